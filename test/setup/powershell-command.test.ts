import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { buildLines, buildScript } from "../../gateway/setup/build-script.ts";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { parseScriptAddress } from "../../gateway/setup/script-address.ts";
import { type ToolId, toolIds } from "../../gateway/setup/tool-setups.ts";
import { isFull } from "../helpers/scale.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { expectContent, readContent, writeExisting } from "./existing-files.ts";
import { readTree } from "./setup-home.ts";
import { keyValue, setupModel } from "./setup-models.ts";
import { createWindowsHome, sharePowerShell } from "./share-powershell.ts";

const powerShell = sharePowerShell();
const { test } = powerShell;

function inputFor(tool: ToolId, baseUrl: string, slug: string) {
  const model = setupModel(slug);
  const models = { light: model, daily: model, hard: model, connected: [model] };
  return { tool, operatingSystem: "windows", baseUrl, models } as const;
}

function generate(tool: ToolId, baseUrl: string, key: string | null = keyValue, slug = "demo/echo") {
  const setup = generateSetup({ ...inputFor(tool, baseUrl, slug), key });
  const files = setup.files.map((file) => ({ ...file, path: file.path.replaceAll("\\", "/") }));
  // Entries outside the home folder, such as environment variables, are not files.
  return { ...setup, files: files.filter((file) => file.path.startsWith("~/")) };
}

type Answer = { status: number; text: string };

const oneModel = '{"object":"list","data":[{"id":"demo/echo","object":"model"}]}';
const rejection: Answer = { status: 401, text: '{"error":{"message":"This API key is invalid."}}' };

/** A home folder, and a gateway that knows one key or always returns `answer`. */
async function createMachine(t: ExecutionContext, answer?: Answer) {
  const home = await createWindowsHome(t);
  const { url } = await createUpstream(t, ({ headers }, response) => {
    const isKnown = headers.authorization === `Bearer ${keyValue}`;
    const { status, text } = answer ?? (isKnown ? { status: 200, text: oneModel } : rejection);
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  });
  let account: Record<string, string> = { MINE: "1", COPILOT_PROVIDER_TYPE: "of an older setup" };
  return {
    home,
    baseUrl: url,
    account: () => account,
    run: async (script: string, environment: Record<string, string> = {}) => {
      const outcome = await powerShell.run(script, {
        environment: { USERPROFILE: home, ...environment },
        account,
      });
      account = outcome.account;
      return `${outcome.said.join("\n")}\n`;
    },
  };
}

// Below full scale, a third of the tools is tried with a wrong key, and another third in a fresh home.
for (const [index, tool] of toolIds.entries()) {
  test(`${tool}: with a wrong key nothing changes; the setup merges, repeats, undoes`, async (t) => {
    const { home, run, baseUrl, account } = await createMachine(t);
    const { command, files, undo } = generate(tool, baseUrl);
    await writeExisting(home, files);
    const before = await readTree(home);
    const variables = account();

    if (isFull || index % 3 === 0) {
      const wrong = `${keyValue.slice(0, -1)}x`;
      const refused = await run(generate(tool, baseUrl, wrong).command);
      t.regex(
        refused,
        /The gateway returned: This API key is invalid\. \(status 401\)\nNothing was changed\.\n$/,
      );
      t.deepEqual([await readTree(home), account()], [before, variables]);
    }

    const first = await run(command);
    t.regex(first, /^OK, 1 model\n/m, first);
    t.true(first.includes(`To undo this: ${undo}`), first);
    t.false(first.includes(keyValue));
    for (const file of files) {
      const written = path.join(home, file.path.replace("~/", ""));
      t.deepEqual(
        readContent(await readFile(written, "utf8"), file.language),
        expectContent(file, keyValue),
        file.path,
      );
      t.is((await stat(written)).mode & 0o777, 0o600, file.path);
    }
    const { COPILOT_PROVIDER_API_KEY: key, COPILOT_PROVIDER_TYPE: old, MINE: mine } = account();
    t.is(mine, "1");
    if (tool === "copilot") t.deepEqual([key, old], [keyValue, undefined]);
    const after = { tree: await readTree(home), variables: account() };

    const second = await run(command);
    t.true(second.includes("Nothing was changed."), second);
    t.deepEqual({ tree: await readTree(home), variables: account() }, after);

    await run(undo);
    t.deepEqual(await readTree(home), before);
    t.deepEqual(account(), variables);
  });

  if (!isFull && index % 3 !== 1) continue;
  test(`${tool}: one line sets up a fresh home, checks and undoes`, async (t) => {
    const { home, run, baseUrl } = await createMachine(t);
    const { files } = generate(tool, baseUrl);
    const { address, script } = buildLines({ ...inputFor(tool, baseUrl, "demo/echo"), key: null });
    const ask = { GATEWAY_API_KEY: keyValue };
    t.regex(await run(script, ask), /^Using the key in GATEWAY_API_KEY\.\n[^]*OK, 1 model\n/);
    for (const { path: name, language, content } of files) {
      const text = await readFile(path.join(home, name.replace("~/", "")), "utf8");
      const expected = content.replaceAll("<your API key>", keyValue);
      t.deepEqual(readContent(text, language), readContent(expected, language), name);
    }
    const after = await readTree(home);
    t.is(await run(scriptAt(address.replace(/\?.*/, "?check&daily=demo/echo"), baseUrl), ask), checked);
    t.deepEqual(await readTree(home), after);
    const undo = scriptAt(address.replace(/\?.*/, "?undo"), baseUrl);
    await run(undo);
    t.deepEqual(await readTree(home), {});
    t.is(await run(undo), "\n");
  });
}

const checked = "Using the key in GATEWAY_API_KEY.\nOK, 1 model\n";

function scriptAt(address: string, baseUrl: string): string {
  const request = parseScriptAddress(address);
  if (!request) throw new Error(`${address} has no script.`);
  return buildScript(request, baseUrl);
}

test("one broken file keeps all unchanged, with manual instructions", async (t) => {
  const { home, run, baseUrl } = await createMachine(t);
  await mkdir(path.join(home, ".pi/agent"), { recursive: true });
  await writeFile(path.join(home, ".pi/agent/models.json"), "{}");
  await writeFile(path.join(home, ".pi/agent/auth.json"), "{");
  const before = await readTree(home);
  const said = await run(generate("pi", baseUrl).command);
  t.regex(said, /auth\.json was not changed: .*\nTo change it manually, merge this into it:\n\{/);
  t.regex(said, /"key": "<your API key>"/);
  t.true(said.trimEnd().endsWith("Nothing was changed. Correct the file, then repeat the command."), said);
  t.false(said.includes(keyValue));
  t.deepEqual(await readTree(home), before);
});

test("links and foreign config.yaml files stay, and a jsonc is preferred", async (t) => {
  const { home, run, baseUrl } = await createMachine(t);
  for (const folder of [".claude", "dotfiles", ".continue", ".config/opencode"])
    await mkdir(path.join(home, folder), { recursive: true });
  await writeFile(path.join(home, "dotfiles/settings.json"), "{}");
  await symlink("../dotfiles/settings.json", path.join(home, ".claude/settings.json"));
  await writeFile(path.join(home, ".continue/config.yaml"), "name: mine\r\n");
  await writeFile(path.join(home, ".config/opencode/opencode.jsonc"), '{ "theme": "x" /* mine */ }');
  const before = await readTree(home);
  const tools = ["claude-code", "continue", "opencode"] as const;
  for (const tool of tools) await run(generate(tool, baseUrl).command);
  const after = await readTree(home);
  t.is(after[".claude/settings.json"], "-> ../dotfiles/settings.json");
  t.regex(after["dotfiles/settings.json"] ?? "", /"model": ?"sonnet"/);
  t.is(after[".continue/config.yaml"], "name: mine\r\n");
  t.regex(after[".continue/configs/gateway.yaml"] ?? "", /model: "demo\/echo"\n/);
  t.regex(
    after[".config/opencode/opencode.jsonc"] ?? "",
    /"theme": "x",[^]*"\$schema":[^]*\/\* mine \*\/ \}/,
  );
  t.false(".config/opencode/opencode.json" in after);
  for (const tool of tools.toReversed()) await run(generate(tool, baseUrl).undo);
  t.deepEqual(await readTree(home), before);
});

test("undo goes back step by step and keeps later changes", async (t) => {
  const { home, run, baseUrl } = await createMachine(t);
  const file = path.join(home, ".claude/settings.json");
  await mkdir(path.dirname(file));
  await writeFile(file, '{"env":{}}');
  const trees = [await readTree(home)];
  for (const slug of ["local/one", "local/two", "local/three"]) {
    await run(generate("claude-code", baseUrl, keyValue, slug).command);
    trees.push(await readTree(home));
  }
  const { undo } = generate("claude-code", baseUrl);
  for (const before of trees.slice(1, -1).toReversed()) {
    await run(undo);
    t.deepEqual(await readTree(home), before);
  }
  await writeFile(file, '{"mine":true}');
  t.regex(await run(undo), /has changed since the setup. The changed version is saved as .*\.bak-\d+/);
  t.is(await readFile(file, "utf8"), '{"env":{}}');
  const [copy] = (await readdir(path.dirname(file))).filter((each) => each.includes(".bak-"));
  t.is(await readFile(path.join(path.dirname(file), copy ?? ""), "utf8"), '{"mine":true}');
});

test("an unwritable file changes nothing and leaves no traces", async (t) => {
  const { home, run, baseUrl } = await createMachine(t);
  await mkdir(path.join(home, ".config"));
  await writeFile(path.join(home, ".config/model-gateway"), "a file where the folder has to be");
  await mkdir(path.join(home, ".codex"));
  await writeFile(path.join(home, ".codex/.env"), "MINE=1\n");
  const before = await readTree(home);
  const said = await run(generate("codex", baseUrl).command);
  t.regex(
    said,
    /Nothing was changed, because a file could not be written\. Check the error, then repeat the command\.\n$/,
  );
  t.deepEqual(await readTree(home), before);
});

test("a folder and a read-only file are rejected", async (t) => {
  const { home, run, baseUrl } = await createMachine(t);
  await mkdir(path.join(home, ".claude/settings.json"), { recursive: true });
  t.regex(
    await run(generate("claude-code", baseUrl).command),
    /settings\.json was not changed: it is a folder\./,
  );
  // Root may write every file.
  if (process.getuid?.() === 0) return;
  await mkdir(path.join(home, ".codex"));
  await writeFile(path.join(home, ".codex/.env"), "");
  await chmod(path.join(home, ".codex/.env"), 0o444);
  t.regex(await run(generate("codex", baseUrl).command), /\.env was not changed: it is read-only\./);
});

const misspelledKeys = [
  ["", /There is no terminal to prompt for the API key\. Set the environment variable GATEWAY_API_KEY/],
  ["sk-other", /does not start with sk-gateway-/],
  [keyValue.slice(1, 40), /does not start with sk-gateway-/],
  [keyValue.slice(0, 40), /is incomplete: it has 40 characters instead of 60\. Copy the key again/],
  [`${keyValue}a`, /is too long: it has 61 characters instead of 60\./],
  [`${keyValue.slice(0, -1)}_`, /contains an invalid character: only letters and digits follow sk-gateway-/],
] as const;

test("a misspelled or missing key is rejected before any change", async (t) => {
  const { home, run, baseUrl } = await createMachine(t);
  for (const [key, why] of misspelledKeys) {
    t.regex(await run(generate("codex", baseUrl, null).command, { GATEWAY_API_KEY: key }), why);
    t.deepEqual(await readTree(home), {});
  }
});

test("the prompt hides the key, and trims it", async (t) => {
  const { run, baseUrl } = await createMachine(t);
  const { command } = generate("other", baseUrl, null);
  const typed = `function Read-Host([switch]$AsSecureString, $prompt) {
    if (-not $AsSecureString) { throw 'visible' }
    Write-Host $prompt
    ConvertTo-SecureString -AsPlainText -Force ' ${keyValue} '
  }\n`;
  t.regex(await run(`${typed}${command}`), /^Gateway API key \(hidden\)\n[^]*OK, 1 model\n/);
});

const answers = [
  {
    status: 500,
    text: '{"error":{"message":"a \\"b\\"\\n\u001b]0;x\u0007c"}}',
    said: /The gateway returned: a "b" \]0;xc \(status 500\)\n/,
  },
  { status: 404, text: "<html>Not found</html>", said: /is not a Model Gateway: it returned status 404\./ },
  { status: 0, text: "", said: /does not respond \(.+\)\. Check the URL and the network\./ },
  {
    status: 200,
    text: '{"data":[{"object":"model"},{"object": "model"}]}',
    said: /OK, 2 models\nThe key is not connected to demo\/echo\. Connect the model in the console\.\n/,
  },
];

for (const { said, ...answer } of answers) {
  test(`a gateway's status ${answer.status} is reported`, async (t) => {
    const { home, run, baseUrl } = await createMachine(t, answer);
    const url = answer.status === 0 ? "http://127.0.0.1:9" : baseUrl;
    const shown = await run(generate("codex", url).command);
    t.regex(shown, said);
    if (answer.status === 200) return t.true(shown.includes("To undo this"));
    t.regex(shown, /\nNothing was changed\.\n$/);
    return t.deepEqual(await readTree(home), {});
  });
}
