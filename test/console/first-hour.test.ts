import test from "ava";
import OpenAI, { AuthenticationError } from "openai";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, shareBrowser } from "../helpers/chromium.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a newcomer creates, uses, inspects and deletes a key in the first hour", async (t) => {
  const upstream = await createUpstream(t, ({ url }, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const message = { role: "assistant", content: "Hello from upstream." };
    const usage = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 };
    const answer = url.endsWith("/models")
      ? { object: "list", data: [{ id: "small", object: "model" }] }
      : {
          id: "1",
          object: "chat.completion",
          created: 1,
          model: "small",
          choices: [{ index: 0, message, finish_reason: "stop" }],
          usage,
        };
    response.end(JSON.stringify(answer));
  });
  const gateway = await startTestGateway(t, { withoutAdministrator: true });

  const path = `/set-up?token=${gateway.services.accounts.setUpToken}`;
  const page = await openConsole(t, { browser: browser(), gateway, path });
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Create administrator" }).click();

  await page.getByRole("link", { name: "Add a provider" }).click();
  await page.goto("/providers/new?from=other");
  await page.getByLabel("Base URL").fill(`${upstream.url}/v1`);
  await page.getByLabel("API key").fill("upstream-key-0123456789");
  await page.getByLabel("Name").fill("house");
  await page.getByRole("button", { name: "Save and test" }).click();
  await page.getByText(/Connected\./).waitFor();
  await page.getByRole("list", { name: "Models of house" }).getByRole("checkbox").first().check();
  await page.getByRole("button", { name: "Add one model" }).click();
  await page.waitForURL(/\/providers\/prv_/);

  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("link", { name: "Create API key" }).click();
  await page.getByLabel("Name").fill("First of mine");
  await page.getByRole("checkbox", { name: "All models of house" }).check();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Key First of mine created" });
  await dialog.getByRole("button", { name: "Copy key" }).click();
  const apiKey = await page.evaluate<string>("navigator.clipboard.readText()");
  await dialog.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("heading", { name: "First of mine" }).waitFor();

  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
  const request = { model: "house/small", messages: [{ role: "user" as const, content: "Hello" }] };
  const completion = await client.chat.completions.create(request);
  t.is(completion.choices[0]?.message.content, "Hello from upstream.");

  await page.getByRole("link", { name: "Usage", exact: true }).last().click();
  await page.getByRole("link", { name: "View requests" }).click();
  await page.getByRole("cell", { name: "Succeeded" }).waitFor();
  t.is(await page.getByRole("row").count(), 2);
  await page.goBack();
  await page.getByRole("button", { name: "Deactivate" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
  await page.getByText("Deactivated").first().waitFor();
  await t.throwsAsync(client.chat.completions.create(request), { instanceOf: AuthenticationError });
});
