import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("keys are searched, filtered and paged, and the address keeps it", async (t) => {
  const gateway = await startTestGateway(t);
  for (let number = 0; number < 60; number++)
    await gateway.admin.keys.create.mutate({ name: `Key ${number}` });
  const { key } = await gateway.admin.keys.create.mutate({ name: "Laptop" });
  await gateway.admin.keys.deactivate.mutate({ id: key.id });

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("link", { name: "Key 0", exact: true }).waitFor();
  t.regex(page.url(), /\?after=key_/);
  await page.goBack();
  await page.getByRole("link", { name: "Laptop" }).waitFor();

  await page.getByRole("searchbox").fill("lap");
  await page.getByRole("link", { name: "Key 59" }).waitFor({ state: "detached" });
  t.is(new URL(page.url()).search, "?search=lap");
  await page.reload();
  await page.getByRole("link", { name: "Laptop" }).waitFor();
  t.is(await page.getByRole("searchbox").inputValue(), "lap");
  await page.getByLabel("Status").click();
  await page.getByRole("option", { name: "Active" }).click();
  await page.getByText("No key matches").waitFor();
});
