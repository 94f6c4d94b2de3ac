import test from "ava";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

const browser = shareBrowser(test);
const gateway = shareGateway();

for (const [who, open] of [
  ["a stranger", openConsole],
  ["a signed-in person", openSignedIn],
] as const) {
  browserTest(`${who} sees one "not found" page at an unknown address`, async (t) => {
    const page = await open(t, { browser: browser(), gateway: gateway() });
    let loads = 0;
    page.on("request", (request) => (loads += Number(request.isNavigationRequest())));
    for (const path of ["/nope", "/login", "/admin/keys"]) {
      loads = 0;
      await page.goto(path, { waitUntil: "networkidle" });
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      t.is(loads, 1, path);
      t.is(new URL(page.url()).pathname, path);
    }
    await page.getByRole("link", { name: "Go to overview" }).click();
    await page.waitForURL((url) => url.pathname !== "/admin/keys");
  });
}
