import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { type ConsolePage, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

async function choose(page: ConsolePage, label: string, option: string) {
  await page.getByLabel(label, { exact: true }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

const requestCount = (page: ConsolePage, count: number) =>
  page.locator("dt", { hasText: "Requests" }).locator(`+ dd:text-is("${count}")`).waitFor();

browserTest("usage of a deleted key is selectable, and Back undoes one selection at a time", async (t) => {
  const gateway = await startTestGateway(t);
  const [gone, kept] = [await createKey(gateway), await createKey(gateway)];
  await gateway.admin.keys.rename.mutate({ id: gone.id, name: "Old laptop" });
  await gateway.admin.keys.rename.mutate({ id: kept.id, name: "New laptop" });
  for (const content of ["one", "two", "/fail 429"])
    await postChat(gateway, gone.value, chatBody("demo/echo", content));
  await postChat(gateway, kept.value, chatBody("demo/echo", "three"));
  await gateway.services.recorder.flush();
  await gateway.admin.keys.delete.mutate({ id: gone.id });

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await requestCount(page, 4);
  await choose(page, "API key", "Old laptop (deleted)");
  await page.waitForURL(`**/usage?key=${gone.id}`);
  await requestCount(page, 3);
  await choose(page, "Status", "Failed");
  await requestCount(page, 1);
  await page.getByRole("region", { name: "Usage by model" }).getByRole("cell", { name: "$0.00" }).waitFor();
  await assertAccessible(t, page);

  await page.goBack();
  await requestCount(page, 3);
  t.is(new URL(page.url()).search, `?key=${gone.id}`);
  await page.goBack();
  await requestCount(page, 4);
  t.is(new URL(page.url()).search, "");
  await page.getByLabel("API key", { exact: true }).click();
  t.is(await page.getByRole("option", { name: "(deleted)" }).count(), 1);
});

browserTest("keys of the same name are distinguished by the end of their values", async (t) => {
  const gateway = await startTestGateway(t);
  const [one, other, alone] = [await createKey(gateway), await createKey(gateway), await createKey(gateway)];
  await gateway.admin.keys.rename.mutate({ id: alone.id, name: "Laptop" });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  for (const key of [one, other]) {
    await choose(page, "API key", `Test key …${key.value.slice(-4)}`);
    await page.waitForURL(`**/usage?key=${key.id}`);
  }
  await choose(page, "API key", "Laptop");
  await page.waitForURL(`**/usage?key=${alone.id}`);
  await assertAccessible(t, page);
});

browserTest("bars of several models are drawn without errors, with whole requests", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await postChat(gateway, key.value, chatBody("demo/echo", "/fail 500"));
  await postChat(gateway, key.value, chatBody("nobody/nothing"));
  await gateway.services.recorder.flush();
  // `openSignedIn` fails the test if the page reports an error.
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage?status=FAILED" });
  const figure = page.getByRole("figure", { name: "Requests by model" });
  const bars = figure.locator('path[stroke="var(--surface)"]');
  await bars.nth(1).waitFor();
  for (const bar of await bars.all()) t.regex((await bar.getAttribute("d")) ?? "", /^M[\d.]+ [\d.]+V[^N]*z$/);
  t.regex(await figure.innerText(), /\b\d\d:00\b/, "hours of the day, of 24");
  t.notRegex(await figure.innerText(), /\d\.\d|\b[AP]M\b/);

  await page.goto("/usage?status=CANCELLED");
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await figure.getByText("0", { exact: true }).waitFor();
  t.notRegex(await figure.innerText(), /\d\.\d/);
});
