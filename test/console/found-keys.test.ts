import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { type ConsolePage, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { eventually } from "../helpers/eventually.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

/** Collects every URL that the page shows or requests. */
function watchUrls(page: ConsolePage): string[] {
  const urls: string[] = [];
  page.on("framenavigated", (frame) => urls.push(frame.url()));
  page.on("request", (request) => urls.push(request.url(), request.headers()["referer"] ?? ""));
  return urls;
}

browserTest("an administrator pastes a leaked value and deactivates its key", async (t) => {
  const gateway = await startTestGateway(t);
  const grace = await addPerson(gateway, "grace@example.com");
  const { key, value } = await grace.console.keys.create.mutate({ name: "Leaked", models: ["demo/echo"] });
  await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys?search=test" });
  await page.getByRole("link", { name: "Test key" }).waitFor();
  const urls = watchUrls(page);

  const field = page.getByRole("searchbox", { name: "Search keys" });
  await page.evaluate((text) => navigator.clipboard.writeText(text), `KEY=${value}`);
  await field.selectText();
  await field.press("ControlOrMeta+v");
  const found = page.getByRole("region", { name: "Found keys" });
  await found.getByRole("link", { name: "Leaked" }).waitFor();
  t.is(await field.inputValue(), "", "the value leaves the field");
  t.is(new URL(page.url()).search, "");
  await page.getByRole("link", { name: "Test key" }).waitFor();
  await assertAccessible(t, page);

  await found.getByRole("button", { name: "Deactivate" }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).press("Enter");
  await found.getByText("Deactivated by administrator").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 401);
  t.is(await page.evaluate("document.activeElement.textContent.trim()"), "Activate Leaked");
  await found.getByRole("button", { name: "Activate" }).click();
  await found.getByText("Active", { exact: true }).waitFor();

  const { value: next } = await gateway.admin.keys.rotate.mutate({ id: key.id, overlapSeconds: 3_600 });
  await field.fill(value);
  await found.getByText("Old value, valid until").waitFor();
  await field.fill(`${next.slice(0, -1)}${next.endsWith("0") ? "1" : "0"}`);
  await found.getByText("No key has this value").waitFor();
  await assertAccessible(t, page);
  await found.getByRole("button", { name: "Close found keys" }).click();
  await found.waitFor({ state: "detached" });

  await field.fill(next.slice(0, -8));
  await page.getByText("This is not a whole key value.").waitFor();
  await field.fill(next.slice(-4));
  await found.getByRole("link", { name: "Leaked" }).waitFor();
  await field.fill(key.id);
  await found.getByText("Key with this ID").waitFor();

  t.true(urls.length > 5);
  const bare = [value, next].map((each) => each.slice("sk-gateway-".length, -8));
  t.deepEqual(findLeaks(urls.join("\n"), { old: bare[0] ?? "", next: bare[1] ?? "" }), []);
  t.deepEqual(findLeaks(gateway.log.join(""), { old: bare[0] ?? "", next: bare[1] ?? "" }), []);
});

browserTest("a member's pasted value finds only an own key", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const grace = await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys", ...grace });
  await page.getByRole("searchbox").fill(value);
  await page.getByText("None of your keys has this value").waitFor();
  t.false(page.url().includes("sk-gateway-"));
});

browserTest("no search field writes a key value or token into the URL", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const token = `at-gateway-${value.slice("sk-gateway-".length)}`;
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.clock.install();
  const urls = watchUrls(page);
  const paths = ["/keys", "/people", "/models", "/audit-log", "/providers/new", "/requests", "/usage", "/"];
  let fieldCount = 0;
  for (const path of paths) {
    await page.goto(path);
    await page.getByRole("main").getByRole("heading", { level: 1 }).waitFor();
    await eventually(async () => (await page.getByRole("main").locator("[aria-busy=true]").count()) === 0);
    for (const field of await page.getByRole("main").locator("input[type=search], [role=combobox]").all()) {
      if (!(await field.evaluate((element) => element.localName === "input"))) continue;
      fieldCount++;
      for (const secret of [value, ` ${token} `, `${value} and more`]) {
        await field.fill(secret);
        await field.press("Enter");
        await page.clock.runFor(1_000);
        t.false(page.url().includes("-gateway-"), `${path}: ${page.url()}`);
      }
      await field.fill("");
    }
  }
  t.true(fieldCount >= 8, `${fieldCount} fields`);
  t.deepEqual(findLeaks(urls.join("\n"), { value: value.slice("sk-gateway-".length) }), []);
});

test("only one module changes URL parameters, and no module uses the history directly", (t) => {
  const folder = join(import.meta.dirname, "../../console/src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.(?:ts|svelte)$/.test(file),
  );
  const using = (pattern: RegExp) =>
    files.filter((file) => pattern.test(readFileSync(join(folder, file), "utf8")));
  t.deepEqual(
    using(/\bhistory\.(?:push|replace)State|\b(?:push|replace)State\(|location\.(?:href|search) ?=[^=]/),
    [],
  );
  t.deepEqual(using(/url\.searchParams\.(?:set|append)/), ["lib/url-state.ts"]);
  t.true(using(/beforeNavigate\(.*\n.*containsSecret/).includes("routes/+layout.svelte"));
});
