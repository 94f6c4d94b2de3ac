import { inflateSync } from "node:zlib";
import test from "ava";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

// On some systems, scrollbars take up space. Headless browsers hide them by default.
const browser = shareBrowser(test, { ignoreDefaultArgs: ["--hide-scrollbars"] });

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
