import { readFileSync } from "node:fs";
import test from "ava";
import { type OpenApiDocument, readReference } from "../../console/src/lib/reference/read-reference.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("the API reference is readable without signing in", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openConsole(t, { browser: browser(), gateway, path: "/docs" });
  await page.getByRole("heading", { name: "Chat completions" }).waitFor();
  t.is(await page.title(), "API reference · Model Gateway");
  t.is(new URL(page.url()).pathname, "/docs");
  const chat = page.getByRole("region", { name: "Chat completions", exact: true });
  t.regex(await chat.innerText(), /max_completion_tokens\s*integer or null, 1 or more/);
  for (const summary of await chat.locator("summary").all()) await summary.click();
  await chat.getByText("A budget of the key, its owner or the gateway is exceeded.").waitFor();
  await assertAccessible(t, page);

  await page.getByRole("navigation").getByRole("link", { name: "Count tokens" }).click();
  await page.waitForURL(/#countTokens$/);
  await page.getByRole("link", { name: "openapi.json" }).click();
  await page.waitForURL("**/openapi.json");
  t.regex(await page.content(), /"openapi":"3\.1/);
});

browserTest("the examples run as written", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const page = await openConsole(t, { browser: browser(), gateway, path: "/docs" });
  await page.getByRole("heading", { name: "Messages", exact: true }).waitFor();
  const example = await page.getByRole("region", { name: "example for Messages" }).innerText();
  const [, address = ""] = /^curl (\S+)/.exec(example) ?? [];
  const [, body = ""] = /-d '(.*)'/.exec(example) ?? [];
  t.is(address, `${gateway.url}/v1/messages`);
  const headers = { authorization: `Bearer ${value}`, "content-type": "application/json" };
  const answer = await fetch(address, { method: "POST", headers, body });
  t.is(answer.status, 200);
});

browserTest("a signed-in person finds the reference and the way back", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: "API reference" }).click();
  await page.getByRole("heading", { name: "API reference" }).waitFor();
  await page.getByRole("link", { name: "Console" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  t.pass();
});

test("every operation and parameter of the document is shown", (t) => {
  const file = new URL("../../gateway/v1/open-api/openapi.json", import.meta.url);
  const document = JSON.parse(readFileSync(file, "utf8")) as OpenApiDocument;
  const { groups } = readReference(document);
  const operations = groups.flatMap((group) => group.operations);
  t.is(operations.length, Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length);
  for (const { id, description, parameters, answer } of operations) {
    t.truthy(description, id);
    t.true(answer.length > 0, id);
    for (const { name, type, description: said } of parameters) {
      t.notRegex(type, /undefined|anything/, `${id} ${name}`);
      t.true(said !== "" || /[.[]/.test(name), `${id} ${name}`);
    }
  }
  t.true(operations.some(({ answer }) => answer.some(({ name }) => name === "choices[].message.content")));
});
