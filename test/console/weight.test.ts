import test from "ava";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);
const scriptBytesMax = 150 * 1024;

browserTest("the first load of a page is at most 150 KB of compressed script", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const signedIn = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  const entrance = await openConsole(t, { browser: browser(), gateway, path: "/sign-in" });
  for (const [page, path] of [
    [entrance, "/sign-in"],
    [signedIn, "/keys"],
    [signedIn, `/keys/${key.id}`],
  ] as const) {
    await page.goto(path, { waitUntil: "networkidle" });
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js")).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    t.log(`${path}: ${(bytes / 1024).toFixed(1)} KB`);
    t.true(bytes > 10_000 && bytes <= scriptBytesMax, `${path}: ${bytes} bytes`);
  }
});
