import { readFileSync } from "node:fs";
import type { ExecutionContext } from "ava";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { eventually } from "./eventually.ts";

/**
 * axe finds nothing on the page as it is now, in light and in dark, and at a phone's width nothing sticks out. Leaves the page
 * as wide as it was, in light.
 */
export async function assertAccessible(t: ExecutionContext<unknown>, page: Page): Promise<void> {
  const html = page.locator("html");
  const size = page.viewportSize();
  // Once per document: it takes as long to read as a page takes to look at.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource);
  for (const theme of ["dark", "light"] as const) {
    await html.evaluate((element, dark) => element.classList.toggle("dark", dark), theme === "dark");
    // Of all that axe looks at, a theme changes the colours only.
    const found = await findViolations(page, theme === "dark" ? colourRules : null);
    t.deepEqual(found, [], `${page.url()} in ${theme}`);
  }
  await page.setViewportSize({ width: 360, height: 780 });
  // What measures itself follows a moment later.
  const fits = () => html.evaluate((element) => element.scrollWidth <= element.clientWidth);
  await eventually(fits).catch(() => t.fail(`${page.url()} is too wide at 360 px`));
  if (size) await page.setViewportSize(size);
}

// Less than half of what the package says its source is, which takes a browser a quarter of a second to read.
const axeSource = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

const colourRules = ["color-contrast", "link-in-text-block"];

/** @param rules null for all */
async function findViolations(page: Page, rules: string[] | null): Promise<string[]> {
  const options: axe.RunOptions = {
    resultTypes: ["violations"],
    // Of what it would fetch, style sheets and films, no rule that is on by default needs what these pages have.
    preload: false,
    ...(rules && { runOnly: rules }),
  };
  return page.evaluate(async (runOptions) => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(runOptions);
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
  }, options);
}
