import { readFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import OpenAI, { AuthenticationError } from "openai";
import { toolIds, toolSetups } from "../../gateway/setup/tool-setups.ts";
import { createSetupHome } from "../setup/setup-home.ts";
import { addModels } from "../helpers/add-models.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openConsole, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { isFull } from "../helpers/scale.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { choose } from "./console-actions.ts";

const browser = shareBrowser(test);

browserTest("the printed link makes one administrator, who uses a first key within the hour", async (t) => {
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
  const page = await openConsole(t, { browser: browser(), gateway, path: "/set-up?token=wrong" });
  await page.getByRole("heading", { name: "This link is invalid" }).waitFor();
  t.is(await page.getByRole("textbox").count(), 0, "nobody fills a form in for nothing");
  await assertAccessible(t, page);
  await page.goto(path);
  await page.getByLabel("Name").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("Ada");
  await assertAccessible(t, page);
  const slow = await openConsole(t, { browser: browser(), gateway, path });
  await slow.getByLabel("Name").fill("Eve");
  await slow.getByLabel("Email").fill("eve@example.com");
  await slow.getByLabel("Password").fill("correct horse battery");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password").pressSequentially("short");
  await page.getByRole("button", { name: "Create administrator" }).click();
  await page.locator("[aria-invalid=true]").waitFor();
  t.is(await page.getByText("Use at least 10 characters.").count(), 1, "what is wrong, in place of the hint");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Create administrator" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();

  await slow.getByRole("button", { name: "Create administrator" }).click();
  await slow.getByText(/administrator already exists/).waitFor();
  await slow.reload();
  await slow.getByText(/administrator already exists/).waitFor();
  await assertAccessible(t, slow);
  t.is(await slow.getByRole("button", { name: "Create administrator" }).count(), 0);
  await slow.getByRole("link", { name: "Sign in" }).click();
  await slow.getByRole("button", { name: "Sign in" }).waitFor();

  await page.getByRole("link", { name: "Add a provider" }).click();
  await visit(page, "/providers/new?from=other");
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

browserTest("the copied command equals the shown one and works in a real shell", async (t) => {
  const gateway = await startTestGateway(t);
  const slugs = await addModels(gateway, "some", 3);
  const key = await createKey(gateway, slugs);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}?tab=setup` });
  await page.getByRole("radio", { name: "Claude Code" }).waitFor();
  await choose(page, "Light tasks", "some/model-2");
  await choose(page, "Hard tasks", "some/model-3");
  await page.getByRole("button", { name: "Copy command", exact: true }).click();
  const line = await page.evaluate<string>("navigator.clipboard.readText()");
  t.is(line.trim(), (await page.getByRole("region", { name: "command", exact: true }).innerText()).trim());
  t.regex(line, /^curl -fsSL '[^'\n]+' \| sh$/);
  await page.getByText("Inspect script", { exact: true }).click();
  const inspected = await page.getByRole("region", { name: "script", exact: true }).textContent();
  const served = await fetch(/'(.+)'/.exec(line)?.[1] ?? "");
  t.is(inspected, await served.text());
  t.is(await page.getByText("The script differs from the script").count(), 0);

  await page.getByText("Without download", { exact: true }).click();
  await page.getByLabel("API key (optional)").fill(key.value);
  await assertAccessible(t, page);
  t.false(page.url().includes("sk-gateway"), "the value is not in the address");
  await page.getByRole("button", { name: "Copy long command", exact: true }).click();
  const paste = await page.evaluate<string>("navigator.clipboard.readText()");
  t.true(paste.includes(key.value));

  const home = await createSetupHome(t, { programs: ["curl", "python3"] });
  const { stdout } = await home.run("bash", `${line}\n`, { GATEWAY_API_KEY: key.value });
  t.regex(stdout, /OK, 3 models/);
  t.regex((await home.run("bash", paste)).stdout, /Nothing was changed/);
  const file = path.join(home.home, ".claude/settings.json");
  const { env } = JSON.parse(await readFile(file, "utf8"));
  t.is(env.ANTHROPIC_BASE_URL, gateway.url);
  t.is(env.ANTHROPIC_AUTH_TOKEN, key.value);
  t.is(env.ANTHROPIC_DEFAULT_HAIKU_MODEL, "some/model-2");
  t.is(env.ANTHROPIC_DEFAULT_OPUS_MODEL, "some/model-3");
});

browserTest("a tool shows changes, verification and undo for both systems", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}?tab=setup` });
  await page.getByRole("radio", { name: "Claude Code" }).waitFor();
  await page.getByRole("button", { name: "Show all 24" }).click();
  // The gateway writes every tool's commands, and their own tests run them all.
  const shown = toolIds.filter((id) => isFull || ["claude-code", "codex", "other"].includes(id));
  const names = shown.map((id) => toolSetups[id].name);
  for (const system of ["macOS or Linux", "Windows"]) {
    await choose(page, "Operating system", system);
    for (const name of names) {
      await page.getByRole("radio", { name, exact: true }).check({ force: true });
      const title = system === "Windows" ? "Run in PowerShell" : "Run in a terminal";
      await page.getByRole("heading", { name: title }).waitFor();
      await page.getByRole("radio", { name, exact: true, checked: true }).waitFor();
      // The page can still show the previous tool. If a text occurs twice, `waitFor` throws.
      for (const part of ["Inspect script", "Changes", "Verify", "Undo", "Without download"]) {
        await t.notThrowsAsync(page.getByText(part, { exact: true }).waitFor(), `${name}: ${part}`);
      }
    }
  }
  // The address changes after the page shows the choice.
  await page.waitForURL(/tool=other&system=windows|system=windows&tool=other/);
  await page.getByText("Changes", { exact: true }).click();
  await page.getByText("Undo", { exact: true }).click();
  await assertAccessible(t, page);
  await page.reload();
  await page.getByRole("radio", { name: "Other", checked: true }).waitFor();
});

browserTest(
  "the tool picker is used by keyboard, and tools without a script show their fields",
  async (t) => {
    const gateway = await startTestGateway(t);
    const key = await createKey(gateway);
    const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}?tab=setup` });
    const tools = page.getByRole("radiogroup", { name: "Tool" }).getByRole("radio");
    await tools.first().waitFor();
    t.is(await tools.count(), 10);
    await page.getByLabel("Search tools").focus();
    await page.keyboard.type("gro");
    t.is(await tools.count(), 1);
    await page.keyboard.press("Enter");
    await page.getByRole("radio", { name: "Grok Build", checked: true }).waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    // The list shows ten tools and then the selected tool.
    t.is(await tools.count(), 11);
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowUp");
    await page.getByRole("radio", { name: "Qwen Code", checked: true }).waitFor();
    await page.getByLabel("Search tools").fill("LibreChat");
    await page.getByRole("radio", { name: "Chat apps" }).waitFor();
    await page.getByLabel("Search tools").fill("nothing has this name");
    await page.getByText("No tools match. Search").waitFor();
    await assertAccessible(t, page);

    for (const [tool, texts] of [
      ["chat-apps", ["Open WebUI", "LibreChat", "Cherry Studio", "Chatbox", `${gateway.url}/v1`]],
      ["claude-desktop", ["Gateway base URL", gateway.url]],
      ["vscode-copilot", ["chatLanguageModels.json"]],
      ["claude-code", ["VS Code extension", "GitHub Action"]],
    ] as const) {
      await page.goto(`/keys/${key.id}?tab=setup&tool=${tool}`);
      for (const text of texts) await page.getByText(text, { exact: true }).first().waitFor();
      await page.getByLabel("API key (optional)").fill(key.value);
      await page.getByText(key.value).filter({ visible: true }).first().waitFor();
      await assertAccessible(t, page);
    }
  },
);

browserTest("a key may have all models of a large provider", async (t) => {
  const gateway = await startTestGateway(t);
  const slugs = await addModels(gateway, `as-long-as-names-of-providers-are-${"x".repeat(20)}`, 400);
  const key = await createKey(gateway, slugs);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${key.id}?tab=setup` });
  await page.getByRole("radio", { name: "Claude Code" }).waitFor();
  await page.getByLabel("Light tasks").waitFor();
  t.true(await page.getByLabel("Light tasks").isVisible());
});
