import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { findChromium, provideChromium } from "../helpers/chromium-program.ts";
import { administrator, startTestGateway } from "../helpers/test-gateway.ts";
import { furnish } from "./furnish.ts";

/** `npm run screenshots` takes pictures of the main console pages in light and dark, for desktop and phone. */
async function takeScreenshots(): Promise<void> {
  if (!provideChromium(console.log)) return void (process.exitCode = 1);
  const teardowns: (() => unknown)[] = [];
  const gateway = await startTestGateway({ teardown: (work) => void teardowns.push(work) });
  const pages = await furnish(gateway);
  const browser = await chromium.launch({
    executablePath: findChromium() ?? "",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const theme of ["light", "dark"] as const) {
    for (const width of [1280, 390]) {
      const context = await browser.newContext({
        baseURL: gateway.url,
        colorScheme: theme,
        reducedMotion: "reduce",
        viewport: { width, height: width === 390 ? 844 : 1100 },
      });
      await signIn(context);
      for (const [name, address] of Object.entries(pages)) {
        await take(context, address, path.join(folder, `${name}-${theme}-${width}.png`));
      }
      await context.close();
    }
  }
  await browser.close();
  for (const teardown of teardowns.toReversed()) await teardown();
  console.log(`${Object.keys(pages).length * 4} screenshots in ${path.relative(process.cwd(), folder)}`);
}

const folder = path.join(import.meta.dirname, "../../console/screenshots");

async function signIn(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(administrator.email);
  await page.getByLabel("Password").fill(administrator.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.close();
}

async function take(context: BrowserContext, address: string, file: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole("heading").first().waitFor();
  // Pending content shows a skeleton.
  await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: file });
  await page.close();
}

await takeScreenshots();
