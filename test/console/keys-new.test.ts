import test from "ava";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a key is created by keyboard alone, out of 500 models", async (t) => {
  const gateway = await startTestGateway(t);
  await addModels(gateway, "first", 250);
  await addModels(gateway, "second", 250);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  await page.getByText("0 of 501 selected").waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  await page.getByLabel("Name").focus();
  await page.keyboard.type("Ada's laptop");
  await press("Tab");
  await page.keyboard.type("echo");
  await press("ArrowDown", "Tab", "Space");
  await page.getByText("1 of 501 selected").waitFor();
  t.true(await page.getByRole("checkbox", { name: "demo/echo" }).isChecked());

  await press("Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab");
  // This search matches 13 models: second/model-17, -117, -170 to -179 and -217.
  await page.keyboard.type("SECOND 17");
  await page.getByText("0 selected, 13 of 250 shown").waitFor();
  await press("Enter", "Space");
  await page.getByText("14 of 501 selected").waitFor();
  await press("End", "Enter");
  await page.getByText("13 of 501 selected").waitFor();
  await press("Home", "PageDown", "ArrowUp");
  t.is(await page.evaluate("document.activeElement.ariaLabel"), "second/model-176");

  // Clearing the search keeps the selection and does not submit the form.
  await press("Home", "Shift+Tab", "Shift+Tab", "Shift+Tab", "Escape");
  await page.getByRole("checkbox", { name: "All models of first" }).waitFor();
  await page.getByRole("button", { name: "Show selected" }).press("Enter");
  t.is(await page.getByRole("checkbox").count(), 13 + 2);
  await page.getByRole("button", { name: "Create key" }).press("Enter");

  await page.getByRole("heading", { name: "Key Ada's laptop created" }).waitFor();
  const { items } = await gateway.admin.keys.list.query();
  t.is(items[0]?.name, "Ada's laptop");
  t.is(items[0]?.models.length, 13);
  t.is(items[0]?.owner?.name, "Ada");
  t.is(items[0]?.expiresAt, null);
});

browserTest("the value is shown once, until its storage is confirmed", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("link", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Create key" }).waitFor();
  await page.getByLabel("Name").fill("Night build");
  await page.getByRole("checkbox", { name: "All models of demo" }).check();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Create key" }).click();

  const dialog = page.getByRole("dialog", { name: "Key Night build created" });
  await dialog.getByText("it cannot be shown again").waitFor();
  await assertAccessible(t, page);
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await page.evaluate("history.back()");
  await dialog.getByRole("tab", { name: "Python" }).click();
  t.true(await dialog.isVisible());
  t.regex(page.url(), /\/keys\/new$/);

  await dialog.getByRole("button", { name: "Copy key" }).click();
  const value = await page.evaluate<string>("navigator.clipboard.readText()");
  t.regex(value, /^sk-gateway-\w{40,}$/);
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 200);
  t.true(
    (await dialog.getByRole("region", { name: "Snippets" }).getByRole("tabpanel").innerText()).includes(
      value,
    ),
  );

  await dialog.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("heading", { name: "Night build", exact: true }).waitFor();
  t.regex(page.url(), /\/keys\/key_\w+$/);
  t.false((await page.content()).includes(value));
  t.true((await page.content()).includes(`sk-gateway-…${value.slice(-4)}`));
  await page.goBack();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
});

browserTest("a key expires after days or on a date, and has the selected owner", async (t) => {
  const gateway = await startTestGateway(t);
  const grace = await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  await page.getByLabel("Name").fill("For a month");
  await page.getByLabel("Expires").click();
  await page.getByRole("option", { name: "In 30 days" }).click();
  await page.getByText("Expires on").waitFor();
  await page.getByRole("combobox", { name: "Owner" }).fill("grace");
  await page.getByRole("option", { name: "grace@example.com" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Key For a month created, but no models are connected" });
  await dialog.getByText("Connect at least one model before using this key").waitFor();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByText("in 30 days", { exact: true }).waitFor();
  const [month] = (await grace.console.keys.list.query()).items;
  t.is(month?.owner?.id, grace.id);
  t.true(Math.abs(Date.parse(month?.expiresAt ?? "") - Date.now() - 30 * 86_400_000) < 60_000);

  await page.goto("/keys/new");
  await page.getByLabel("Name").fill("To the end of the year");
  await page.getByLabel("Expires").click();
  await page.getByRole("option", { name: "Custom date" }).click();
  await page.getByLabel("Last day").fill("2020-02-29");
  await page.getByRole("button", { name: "Create key" }).click();
  t.true(await page.getByLabel("Last day").evaluate((input) => input.matches(":invalid")));
  await page.getByLabel("Last day").fill("2090-12-31");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("This key has no limits.").waitFor();
  await page.getByRole("button", { name: "Set limits" }).click();
  await page.getByLabel("Daily budget").waitFor();
  const [year] = (await gateway.admin.keys.list.query()).items;
  const lastMoment = new Date(year?.expiresAt ?? "");
  const localDay = await page.evaluate<string>(`new Date(${lastMoment.getTime()}).toString()`);
  t.regex(localDay, /Dec 31 2090 23:59:59/);
});

browserTest("errors appear beside their fields, and the input is kept", async (t) => {
  const gateway = await startTestGateway(t);
  const [gone = "", stays = ""] = await addModels(gateway, "first", 2);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  await page.getByRole("button", { name: "Create key" }).click();
  t.true(await page.getByLabel("Name").evaluate((input) => input.matches(":invalid")));
  await page.getByLabel("Name").fill("   ");
  await page.getByRole("button", { name: "Create key" }).click();
  const name = page.getByRole("textbox", { name: "Name" });
  await page.getByText("The name is empty. Enter a name.").waitFor();
  t.is(await name.getAttribute("aria-invalid"), "true");
  await assertAccessible(t, page);

  await name.fill("W".repeat(300));
  t.is((await name.inputValue()).length, 255, "the field takes no more");
  await name.fill("Good");
  await page.getByRole("checkbox", { name: "All models of first" }).check();
  await gateway.admin.models.delete.mutate({ slug: gone });
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText(`These models do not exist: ${gone}`).waitFor();
  await page.getByText("1 of 2 selected").waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Key Good created" }).waitFor();
  t.deepEqual((await gateway.admin.keys.list.query()).items[0]?.models, [stays]);
});

browserTest("an error about the expiry disappears when another one is selected", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/account" });
  // A browser with a slow clock offers expiry dates that are already in the past.
  await page.clock.setFixedTime(new Date("2020-01-01"));
  await page.goto("/keys/new");
  await page.getByLabel("Name").fill("Late");
  await page.getByLabel("Expires").click();
  await page.getByRole("option", { name: "In 7 days" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  const said = page.getByText(/The expiry \S+ is in the past\. Choose a later time\./);
  await said.waitFor();
  await page.getByLabel("Expires").click();
  await page.getByRole("option", { name: "Never" }).click();
  await said.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Key Late created, but no models are connected" }).waitFor();
  t.is((await gateway.admin.keys.list.query()).items[0]?.expiresAt, null);
});

browserTest("leaving warns about unsaved input", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  await page.getByLabel("Name").fill("Half a key");
  await page.getByRole("link", { name: "API keys" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Discard changes?" });
  await dialog.waitFor();
  await assertAccessible(t, page);
  await dialog.getByRole("button", { name: "Stay" }).click();
  t.is(await page.getByLabel("Name").inputValue(), "Half a key");
  await page.getByRole("link", { name: "Cancel" }).click();
  await dialog.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await page.getByRole("link", { name: "Create key" }).click();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
});

browserTest("a member creates their own keys, and reads what to do without models", async (t) => {
  const gateway = await startTestGateway(t);
  await gateway.admin.models.delete.mutate({ slug: "demo/echo" });
  const grace = await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new", ...grace });
  await page.getByText("Ask an administrator to add models").waitFor();
  t.is(await page.getByRole("combobox", { name: "Owner" }).count(), 0);
  await assertAccessible(t, page);
  await page.getByLabel("Name").fill("Hers");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByText("Connect at least one model").waitFor();
  t.is((await grace.console.keys.list.query()).items[0]?.owner?.id, grace.id);
});
