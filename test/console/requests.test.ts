import test from "ava";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

async function ask(gateway: TestGateway, value: string, content = "Hello", tool = ""): Promise<string> {
  const headers = { authorization: `Bearer ${value}`, "user-agent": tool };
  const answer = await postTo(gateway, "/v1/chat/completions", headers, chatBody("demo/echo", content));
  await gateway.services.recorder.flush();
  return answer.headers.get("x-request-id") ?? "";
}

browserTest("a click anywhere on a row opens the request at its own address", async (t) => {
  const gateway = await startTestGateway(t);
  const { id: keyId, value } = await createKey(gateway);
  const id = await ask(gateway, value);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests?status=SUCCEEDED" });
  // The row's link covers the cell, so the click needs `force`.
  await page.getByRole("cell", { name: "Succeeded" }).click({ force: true });
  await page.waitForURL(new RegExp(`/requests/${id}\\?status=SUCCEEDED$`));
  const dialog = page.getByRole("dialog", { name: "Request" });
  await dialog.getByRole("region", { name: "Timing" }).waitFor();
  t.is(await dialog.getByRole("link", { name: "Test key" }).getAttribute("href"), `/keys/${keyId}`);
  t.is(
    await dialog.getByRole("link", { name: "demo/echo", exact: true }).getAttribute("href"),
    "/models/demo/echo",
  );
  t.regex(
    (await dialog.getByRole("link", { name: /^demo \// }).getAttribute("href")) ?? "",
    /^\/providers\/prv_/,
  );
  await assertAccessible(t, page);

  await dialog.getByRole("button", { name: "Copy as curl" }).click();
  const curl = await page.evaluate<string>("navigator.clipboard.readText()");
  t.regex(curl, /\/v1\/chat\/completions' .*Bearer \$GATEWAY_API_KEY".*"model":"demo\/echo"/s);
  t.false(curl.includes(value));
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/requests\?status=SUCCEEDED$/);
  await page.reload();
  await page.goto(`/requests/${id}`);
  await dialog.getByText("Succeeded").waitFor();
});

browserTest("a request after a failed attempt shows the time of each phase", async (t) => {
  const gateway = await startTestGateway(t);
  const last = await addModel(t, gateway, (response) => sendCompletion(response));
  const limited = await addModel(t, gateway, answersWith(429), [last.slug]);
  const { record } = await askModel(gateway, limited.slug);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/requests/${record?.id}` });
  const rows = page.getByRole("region", { name: "Timing" }).getByRole("row");
  await rows.nth(1).waitFor();
  const texts = (await rows.allInnerTexts())
    .map((text) => text.replace(/\s+/g, " ").trim())
    // Only on a busy machine do these phases take long enough to be shown.
    .filter((text) => !/^(Upload|Queue|Wait before retry) /.test(text));
  t.is(texts.length, 4, texts.join());
  t.is(texts[0], "Phase Start Duration");
  t.regex(
    texts[1] ?? "",
    new RegExp(`^Attempt 1: HTTP 429 ${limited.name} / ${limited.name}-upstream \\d+ ms`),
  );
  t.regex(
    texts[2] ?? "",
    new RegExp(`^Attempt 2: time to first token ${last.name} / ${last.name}-upstream \\d+ ms`),
  );
  t.regex(texts[3] ?? "", /^Output \d+ ms \d+ ms$/);
  await assertAccessible(t, page);
  await page.setViewportSize({ width: 360, height: 740 });
  const overflow = "document.querySelector('[role=dialog]').scrollWidth - innerWidth";
  t.true((await page.evaluate<number>(overflow)) <= 0);
});

browserTest("a request is found by an ID or by the error message that contains it", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const id = await ask(gateway, value, "/fail 500");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  const field = page.getByRole("searchbox", { name: "Request ID" });
  await field.fill("no id");
  await field.press("Enter");
  await page.getByRole("alert").filter({ hasText: "Enter an ID" }).waitFor();
  await assertAccessible(t, page);
  await field.fill(`The provider failed. Request ${id}`);
  await field.press("Enter");
  await page.getByRole("dialog", { name: "Request" }).getByText("Failed").waitFor();
  t.is(new URL(page.url()).pathname, `/requests/${id}`);
});

browserTest("a member finds requests of own keys only, by list and by ID", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const foreign = await ask(gateway, value);
  const { email, password, console: member } = await addPerson(gateway, "grace@example.com");
  const { value: ownValue } = await member.keys.create.mutate({ name: "Own", models: ["demo/echo"] });
  const own = await ask(gateway, ownValue);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests", email, password });
  await page.getByRole("cell", { name: "Own" }).waitFor();
  t.is(await page.getByRole("row").count(), 2);
  await page.goto(`/requests/${foreign}`);
  const dialog = page.getByRole("dialog", { name: "Request" });
  await dialog.getByText("No request with this ID is visible to you.").waitFor();
  await page.goto(`/requests/${own}`);
  await dialog.getByText("Succeeded").waitFor();
});

browserTest("requests are filtered by status, tool, person, reason and duration", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await ask(gateway, value, "one", "codex_cli_rs/0.50.0");
  await ask(gateway, value, "/fail 500");
  await postChat(gateway, value, chatBody("nobody/nothing"));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  const rows = async (count: number, why: string) => {
    await page.getByRole("row").nth(count).waitFor();
    await page
      .getByRole("row")
      .nth(count + 1)
      .waitFor({ state: "detached" });
    t.pass(why);
  };
  const choose = async (label: string, option: string) => {
    await page.getByLabel(label, { exact: true }).click();
    await page.getByRole("option", { name: option }).click();
  };
  await rows(3, "all");
  await choose("Status", "All errors");
  await rows(2, "errors");
  await choose("Status", "HTTP 4xx");
  await rows(1, "status class");
  await choose("Status", "Any status");
  await page.getByRole("button", { name: "More filters" }).click();
  await choose("Tool", "codex");
  await rows(1, "tool");
  await choose("Tool", "Any tool");
  await choose("Error reason", "http_500");
  await rows(1, "reason");
  await choose("Error reason", "Any error reason");
  await choose("Person", "Ada");
  await rows(3, "person");
  await assertAccessible(t, page);
  await choose("Duration", "At least 60 s");
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await rows(3, "cleared");
});

browserTest("the list follows new requests until it is paused, and keeps its density", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await ask(gateway, value);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  await page.getByRole("row").nth(1).waitFor();
  await ask(gateway, value);
  await page.getByRole("row").nth(2).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused.").waitFor();
  await ask(gateway, value);
  await page.getByRole("button", { name: "Compact rows" }).click();
  await page.getByRole("row").nth(2).click();
  await page.getByRole("dialog", { name: "Request" }).waitFor();
  await page.keyboard.press("Escape");
  // The dialog also contains rows, so the test counts rows after the dialog closes.
  await page.getByRole("dialog", { name: "Request" }).waitFor({ state: "detached" });
  t.is(await page.getByRole("row").count(), 3, "paused");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("row").nth(3).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Comfortable rows" }).waitFor();
});

browserTest("the errors of the overview are the requests behind its link", async (t) => {
  const gateway = await startTestGateway(t);
  const { slug } = await addModel(t, gateway, (response) => response.writeHead(500).end());
  const { value } = await createKey(gateway, [slug]);
  for (let count = 0; count < 2; count++) await postChat(gateway, value, chatBody(slug));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: /^Errors 2/ }).click();
  await page.waitForURL(/\/requests\?status=ERRORS$/);
  await page.getByRole("row").nth(2).waitFor();
  t.is(await page.getByRole("row").count(), 3);
});
