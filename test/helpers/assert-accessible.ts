import { AxeBuilder } from "@axe-core/playwright";
import type { ExecutionContext } from "ava";
import type { Page } from "playwright-core";

/**
 * axe finds nothing on the page as it is now, in light and in dark, and at a phone's width nothing sticks out. Leaves the page
 * as wide as it was, in light.
 */
export async function assertAccessible(t: ExecutionContext<unknown>, page: Page): Promise<void> {
  const html = page.locator("html");
  const size = page.viewportSize();
  for (const theme of ["dark", "light"] as const) {
    await html.evaluate((element, dark) => element.classList.toggle("dark", dark), theme === "dark");
    // Without a blank page for every run, which is for frames of other origins: there are none.
    const axe = new AxeBuilder({ page }).setLegacyMode();
    // Of all that axe looks at, a theme changes the colours only.
    if (theme === "dark") axe.withRules(["color-contrast", "link-in-text-block"]);
    const { violations } = await axe.analyze();
    const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
    t.deepEqual(found, [], `${page.url()} in ${theme}`);
  }
  await page.setViewportSize({ width: 360, height: 780 });
  const excess = await html.evaluate((element) => element.scrollWidth - element.clientWidth);
  t.true(excess <= 0, `${page.url()} is ${excess} px too wide at 360 px`);
  if (size) await page.setViewportSize(size);
}
