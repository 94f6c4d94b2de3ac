import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";

/** Opens a select and clicks an option. A text matches a part of the option's name. */
export async function choose(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page.getByLabel(label, { exact: true }).click();
  await page.getByRole("option", { name: option }).click();
}

/** Clicks a button that downloads a file, and reads the file. */
export async function download(page: Page, button: string): Promise<{ name: string; text: string }> {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  const file = await downloading;
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}

/** Opens the details of the listed request whose row has the cell. */
export async function openDetails(page: Page, cell: string): Promise<Locator> {
  const row = page.getByRole("row").filter({ has: page.getByRole("cell", { name: cell, exact: true }) });
  await row.getByRole("link", { name: /request details/ }).click();
  return page.getByRole("dialog", { name: "Request" });
}

/** Closes a dialog. Until then, the page also has the rows of the dialog. */
export async function closeDialog(page: Page, dialog: Locator): Promise<void> {
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}
