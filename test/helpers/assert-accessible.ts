import { readFileSync } from "node:fs";
import type { ExecutionContext } from "ava";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { eventually } from "./eventually.ts";
import { isFull } from "./scale.ts";

/**
 * Checks the page with axe in both themes, and for horizontal overflow at a phone's width. At a reduced scale, each
 * view is checked once per test file.
 */
export async function assertAccessible(t: ExecutionContext<unknown>, page: Page): Promise<void> {
  const html = page.locator("html");
  const view = await html.evaluate(viewOf);
  // The only assertion of some tests is this one.
  t.pass();
  if (!isFull && checkedViews.has(view)) return;
  checkedViews.add(view);
  // axe is injected once per document, because parsing it takes as long as checking a page.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource);
  for (const theme of ["dark", "light"] as const) {
    await html.evaluate((element, dark) => element.classList.toggle("dark", dark), theme === "dark");
    // The themes differ only in colors, so the dark theme needs only the rules for colors.
    const found = await findViolations(page, theme === "dark" ? colourRules : null);
    t.deepEqual(found, [], `${page.url()} in ${theme}`);
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 780 });
  // Charts adapt their width a moment after the resize.
  const fits = () => html.evaluate((element) => element.scrollWidth <= element.clientWidth);
  const doesFit = await eventually(fits).catch(() => false);
  t.true(doesFit, `${page.url()} is too wide at 360 px`);
  if (size) await page.setViewportSize(size);
}

const checkedViews = new Set<string>();

/** Identifies a view by its path without IDs, and by its open dialogs, menus and lists. Runs in the page. */
function viewOf(html: HTMLElement): string {
  const path = html.ownerDocument.location.pathname.replaceAll(/\/[^/]*\d[^/]*/g, "/id");
  const layers = html.querySelectorAll("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]");
  const titles = [...layers].map((layer) => `${layer.role} ${layer.querySelector("h2")?.textContent ?? ""}`);
  return [path, ...titles].join("\n");
}

// The minified build is less than half the size of the default build.
const axeSource = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

const colourRules = ["color-contrast", "link-in-text-block"];

/** @param rules null for axe's default rules */
async function findViolations(page: Page, rules: string[] | null): Promise<string[]> {
  const options: axe.RunOptions = {
    resultTypes: ["violations"],
    // Of the default rules, only `no-autoplay-audio` needs preloaded files, and the console has no media.
    preload: false,
    ...(rules && { runOnly: rules }),
  };
  return page.evaluate(async (runOptions) => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(runOptions);
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
  }, options);
}
