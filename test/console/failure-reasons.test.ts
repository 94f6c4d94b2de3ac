import test from "ava";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { freePort } from "../helpers/free-port.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);
const viewport = { width: 360, height: 780 };

browserTest("the table and the request details show why a provider failed", async (t) => {
  const gateway = await startTestGateway(t);
  const down = await addModel(t, gateway, { url: `http://127.0.0.1:${await freePort()}` });
  const broken = await addModel(t, gateway, answersWith(500));
  for (const { slug } of [down, broken]) await askModel(gateway, slug);

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests", viewport });
  for (const why of ["Connection refused", "Provider returned HTTP status 500"]) {
    const cell = page.getByRole("cell", { name: `Failed upstream_error ${why}`, exact: true });
    await page
      .getByRole("row")
      .filter({ has: cell })
      .getByRole("link", { name: /request details/ })
      .click();
    const dialog = page.getByRole("dialog", { name: "Request" });
    t.is(
      await dialog
        .locator("dt", { hasText: /^Reason$/ })
        .locator("+ dd")
        .innerText(),
      why,
    );
    t.is(await dialog.locator("dt", { hasText: "Rejected by" }).count(), 0);
    t.is(await dialog.getByText("unknown", { exact: true }).count(), 0, "it has no tokens");
    await assertAccessible(t, page);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  const table = page.getByRole("region", { name: "Requests" });
  t.true(await table.evaluate((element) => element.scrollWidth <= element.clientWidth));
});

browserTest("the overview and the provider's page show the last failure", async (t) => {
  const gateway = await startTestGateway(t);
  const down = await addModel(t, gateway, { url: `http://127.0.0.1:${await freePort()}` });
  const busy = await addModel(t, gateway, answersWith(429));
  for (const { slug } of [down, busy]) await askModel(gateway, slug);

  const page = await openSignedIn(t, { browser: browser(), gateway, viewport });
  const line = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  const refused = /Last error upstream_error, connection refused, (?:just now|\d+ seconds ago)/;
  await line(down.name).getByText(refused).waitFor();
  // The text omits the reason, because it equals the code.
  await line(busy.name)
    .getByText(/Last error http_429 (?:just now|\d+ seconds ago)/)
    .waitFor();
  await assertAccessible(t, page);
  await page.goto(`/providers/${down.providerId}`);
  await page.getByText(refused).waitFor();
  await assertAccessible(t, page);
});
