import type { ExecutionContext, TestFn } from "ava";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
  type Page,
} from "playwright-core";
import { findChromium } from "./chromium-program.ts";
import { hangMs } from "./eventually.ts";
import type { TestGateway } from "./test-gateway.ts";
import { administrator, reusePort } from "./test-gateway.ts";

/** Shares one browser among a file's tests. Returns a getter for the browser. */
export function shareBrowser<Context>(test: TestFn<Context>, options: LaunchOptions = {}): () => Browser {
  let browser: Browser | undefined;
  reusePort();
  test.before(async () => {
    browser = await chromium.launch({
      executablePath: findChromium() ?? "",
      timeout: hangMs,
      // Containers lack the namespaces and the shared memory that Chromium expects.
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...lessWork],
      ...options,
    });
  });
  test.after.always(() => browser?.close());
  return () => {
    if (!browser) throw new Error("The browser has not started yet.");
    return browser;
  };
}

/**
 * The optimizing compilers take a tenth of a page's CPU time, and a page lives for seconds. The pages of a context
 * share one process, because a new one compiles the console again.
 */
const lessWork = ["--js-flags=--no-turbofan --no-maglev", "--renderer-process-limit=1"];

export type ConsolePage = Page & {
  /** Uncaught errors, CSP violations, invalid attributes, native dialogs and requests to other origins. */
  complaints: string[];
};

/** Opens a page with its own cookies and storage, and closes it after the test. Any complaint fails the test. */
export async function openConsole(
  t: ExecutionContext<unknown>,
  { browser, gateway, path = "/", viewport, colorScheme, ...options }: OpenOptions,
): Promise<ConsolePage> {
  const context = await openContext(t, browser, {
    baseURL: gateway.url,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = Object.assign(await context.newPage(), { complaints: [] as string[] });
  // Pages of different sizes and themes can share a context.
  if (viewport) await page.setViewportSize(viewport);
  if (colorScheme) await page.emulateMedia({ colorScheme });
  page.on("pageerror", (error) => page.complaints.push(`error: ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    page.complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) page.complaints.push(`CSP: ${message.text()}`);
    // Chromium reports invalid attributes, such as a bar's negative height.
    if (/<\w+> attribute/.test(message.text())) page.complaints.push(`markup: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.origin !== gateway.url)
      page.complaints.push(`foreign: ${url.href}`);
  });
  t.teardown(() => {
    if (page.complaints.length > 0) throw new Error(page.complaints.join("\n"));
  });
  if (path !== null) await page.goto(path);
  return page;
}

/**
 * Opens an empty context. Reuses an earlier test's context with the same options, because the second page of a context
 * costs half the CPU time of the first one.
 */
async function openContext(
  t: ExecutionContext<unknown>,
  browser: Browser,
  options: BrowserContextOptions & { baseURL: string },
): Promise<BrowserContext> {
  const kind = JSON.stringify(options);
  const idle = idleContexts.get(browser) ?? new Map<string, BrowserContext[]>();
  idleContexts.set(browser, idle);
  let context = idle.get(kind)?.pop();
  if (!context) {
    context = await browser.newContext(options);
    context.setDefaultTimeout(hangMs);
    // The process of a site ends with its last page.
    const keeper = await context.newPage();
    await keeper.goto("/healthz");
  }
  t.teardown(async () => {
    const [keeper, ...pages] = context.pages();
    for (const page of pages) await page.close();
    if (!keeper) return;
    await context.clearCookies();
    await keeper.evaluate("localStorage.clear()");
    idle.set(kind, [...(idle.get(kind) ?? []), context]);
  });
  return context;
}

const idleContexts = new WeakMap<Browser, Map<string, BrowserContext[]>>();

type OpenOptions = {
  browser: Browser;
  gateway: Pick<TestGateway, "url">;
  /** Null for a blank page. `openSignedIn` opens `/` instead. */
  path?: string | null;
} & BrowserContextOptions;

/** Follows a link, like a click in the navigation. Unlike `page.goto`, it loads no new document. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.locator("body").evaluate((body, href) => {
    const link = body.ownerDocument.createElement("a");
    link.href = href;
    body.append(link);
    link.click();
    link.remove();
  }, path);
  await page.waitForURL((url) => url.pathname + url.search === path);
}

/** Continues in the same browser as another person, or as nobody. A new context costs three times as much. */
export async function becomePerson(
  page: ConsolePage,
  person: { email: string; password: string } | null,
  path: string,
): Promise<void> {
  // An open page would use the cookies for its own session.
  await page.goto("about:blank");
  await page.context().clearCookies();
  if (person) await signIn(page, person);
  await page.goto(path);
}

async function signIn(
  page: ConsolePage,
  { email, password }: { email: string; password: string },
): Promise<void> {
  const answer = await page.request.post("/trpc/auth.signIn", { data: { email, password } });
  if (!answer.ok()) throw new Error(`${email} cannot sign in: ${await answer.text()}`);
}

/** Opens a page signed in as the administrator or another person, without using the sign-in form. */
export async function openSignedIn(
  t: ExecutionContext<unknown>,
  {
    email = administrator.email,
    password = administrator.password,
    ...options
  }: OpenOptions & { email?: string; password?: string },
): Promise<ConsolePage> {
  const { path = "/" } = options;
  const page = await openConsole(t, { ...options, path: null });
  await signIn(page, { email, password });
  await page.goto(path ?? "/");
  return page;
}
