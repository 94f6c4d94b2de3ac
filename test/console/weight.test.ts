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

browserTest("a page shows with at most 100 KB of compressed script", async (t) => {
  const gateway = await startTestGateway(t);
  for (const path of ["/", "/sign-in", "/keys", "/keys/key_1", "/models/new", "/requests", "/usage"]) {
    const answer = await fetch(`${gateway.url}${path}`, { headers: { accept: "text/html" } });
    const named = `${answer.headers.get("link")}${await answer.text()}`;
    const files = new Set(named.match(/_app\/immutable\/[^">]+\.js/g));
    const sizes = await Promise.all(
      [...files].map(async (file) => {
        const { headers } = await fetch(`${gateway.url}/${file}`, { headers: { "accept-encoding": "br" } });
        return Number(headers.get("content-length"));
      }),
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    t.log(`${path}: ${(bytes / 1024).toFixed(1)} KB in ${sizes.length} files`);
    t.true(bytes > 10_000 && bytes <= 100 * 1024, `${path}: ${bytes} bytes`);
  }
});
