import type { ConsolePage } from "./chromium.ts";

/**
 * Returns a row's cell in the column "Unpriced" of the usage page. Throws if the page contains "unpriced" outside of
 * the table's header.
 */
export async function unpricedIn(page: ConsolePage, name: string): Promise<string> {
  // Only wide screens show the column.
  await page.setViewportSize({ width: 1440, height: 900 });
  const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  await row.waitFor();
  const titles = await page.locator("thead th").allInnerTexts();
  const index = titles.findIndex((title) => title.trim() === "Unpriced");
  const mentions = await page
    .getByText(/unpriced/i)
    .and(page.locator(":not(thead *)"))
    .allInnerTexts();
  if (mentions.length > 0) throw new Error(`The page mentions: ${mentions.join(", ")}`);
  return row.locator("th, td").nth(index).innerText();
}
