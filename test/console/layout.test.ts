import { inflateSync } from "node:zlib";
import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

// On some systems, scrollbars take up space. Headless browsers hide them by default.
const browser = shareBrowser(test, { ignoreDefaultArgs: ["--hide-scrollbars"] });
const viewport = { width: 360, height: 780 };

browserTest("a phone scrolls the selected tab into view, and copy buttons cover no code", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, {
    browser: browser(),
    gateway,
    path: `/keys/${id}?tab=usage`,
    viewport,
  });
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  const tabs = page.getByRole("navigation", { name: "Key sections" });
  const tab = await tabs.getByRole("link", { name: "Usage" }).boundingBox();
  t.true((tab?.x ?? 999) + (tab?.width ?? 999) <= 360, JSON.stringify(tab));
  t.is(await page.evaluate("scrollY"), 0, "nothing but the strip was scrolled");

  await tabs.getByRole("link", { name: "Snippets" }).click();
  const code = await page.getByRole("region", { name: "curl snippet" }).boundingBox();
  const copy = await page.getByRole("button", { name: "Copy curl snippet" }).boundingBox();
  t.true((code?.x ?? 999) + (code?.width ?? 999) <= (copy?.x ?? 0), "beside the code");
  await assertAccessible(t, page);
});

browserTest("a phone fits the table of models and wraps error codes between words", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("nobody/nothing"));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/models", viewport });
  const table = page.getByRole("region", { name: "Models" });
  await table.waitFor();
  t.true(await table.evaluate((element) => element.scrollWidth <= element.clientWidth));

  await page.goto("/requests");
  const cell = page.getByRole("cell", { name: "Failed model_not_found" });
  await cell.waitFor();
  t.is(await cell.locator("wbr").count(), 2);
  await assertAccessible(t, page);
});

browserTest("tables fit tablets and laptops, and keep the actions of each row in view", async (t) => {
  const gateway = await startTestGateway(t);
  const { id, value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await gateway.services.recorder.flush();
  await gateway.admin.keys.rename.mutate({ id, name: "Continuous integration of the website" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  for (const path of ["/keys", "/models", "/people", "/providers", "/audit-log", "/requests"]) {
    await page.goto(path);
    const table = page.locator("[role=region]:has(table)");
    await table.waitFor();
    for (const width of [1440, 1280, 1024, 768]) {
      await page.setViewportSize({ width, height: 900 });
      const sizes = await table.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
      t.is(sizes[0], sizes[1], `${path} at ${width} px`);
    }
  }
});

browserTest("tabs show no scrollbar where scrollbars take room", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("navigation", { name: "Key sections" }).waitFor();
  const tabs = `document.querySelector('[aria-label="Key sections"]')`;
  t.is(await page.evaluate(`${tabs}.offsetWidth - ${tabs}.clientWidth`), 0);
});

browserTest("a dialog covers the page and moves nothing where scrollbars take room", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  for (const colorScheme of ["light", "dark"] as const) {
    // The height is low enough for the page to need a scrollbar.
    const viewport = { width: 1280, height: 360 };
    const options = { browser: browser(), gateway, path: `/keys/${id}`, colorScheme, viewport };
    const page = await openSignedIn(t, options);
    // An element at the right edge moves if the width changes.
    const opener = page.getByRole("button", { name: "Deactivate", includeHidden: true }).first();
    await opener.waitFor();
    const before = await opener.boundingBox();
    t.truthy(before);
    const right = await page.evaluate<number>("innerWidth");
    t.true((await page.evaluate<number>("document.documentElement.clientWidth")) < right, "it has one");
    const redAt = async (x: number) =>
      readRed(await page.screenshot({ clip: { x, y: 5, width: 1, height: 1 } }));
    await opener.click();
    await page.getByRole("dialog").waitFor();
    const [edge, beside] = [await redAt(right - 3), await redAt(right - 20)];
    // Rounding may differ by one color value.
    t.true(Math.abs(edge - beside) <= 1, `${colorScheme}: ${edge} beside ${beside}`);
    t.is((await opener.boundingBox())?.x, before?.x);
  }
});

/** Returns the red value of a picture's first pixel, from 0 to 255. https://www.w3.org/TR/png-3/ */
function readRed(png: Buffer): number {
  const pixels: Buffer[] = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "IDAT") pixels.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  // The first byte of the line is its filter.
  return inflateSync(Buffer.concat(pixels)).readUInt8(1);
}
