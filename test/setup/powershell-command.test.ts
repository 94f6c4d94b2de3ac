import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { type ToolId, toolIds } from "../../gateway/setup/tool-setups.ts";
import { expectContent, readContent, writeExisting } from "./existing-files.ts";
import { findPowerShells } from "./powershell/powershell-runners.ts";
import { readTree } from "./setup-home.ts";
import { keyValue, setupModel } from "./setup-models.ts";

const powerShells = await findPowerShells(console.log);

function generate(tool: ToolId, baseUrl: string, key: string | null = keyValue, slug = "demo/echo") {
  const model = setupModel(slug);
  const models = { light: model, daily: model, hard: model, connected: [model] };
  const setup = generateSetup({ tool, operatingSystem: "windows", baseUrl, key, models });
  const files = setup.files.map((file) => ({ ...file, path: file.path.replaceAll("\\", "/") }));
  // Entries outside the home folder, such as environment variables, are not files.
  return { ...setup, files: files.filter((file) => file.path.startsWith("~/")) };
}

for (const [name, createHome] of Object.entries(powerShells.all)) {
  for (const tool of toolIds) {
    test(`${tool} in ${name}: the setup merges, repeats and undoes`, async (t) => {
      const { home, run, baseUrl, account } = await createHome(t);
      const { command, files, undo } = generate(tool, baseUrl);
      await writeExisting(home, files);
      account?.set("COPILOT_PROVIDER_TYPE", "of an older setup").set("MINE", "1");
      const before = await readTree(home);
      const variables = [...(account ?? [])];

      const first = await run(command);
      t.true(first.includes("\nOK, 1 model\n"), first);
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
      if (tool === "copilot" && account) {
        t.is(account.get("COPILOT_PROVIDER_API_KEY"), keyValue);
        t.is(account.get("MINE"), "1");
        t.false(account.has("COPILOT_PROVIDER_TYPE"));
      }
      const after = await readTree(home);

      const second = await run(command);
      // Copilot's setup uses account variables, which exist only on Windows and in the stand-in.
      if (account || tool !== "copilot") {
        t.true(second.includes("Nothing was changed."), second);
        t.deepEqual(await readTree(home), after);
      }

      await run(undo);
      t.deepEqual(await readTree(home), before);
      t.deepEqual([...(account ?? [])].toSorted(), variables.toSorted());
    });
  }

  test(`in ${name}: one broken file keeps all unchanged, with manual instructions`, async (t) => {
    const { home, run, baseUrl } = await createHome(t);
    await mkdir(path.join(home, ".pi/agent"), { recursive: true });
    await writeFile(path.join(home, ".pi/agent/models.json"), "{}");
    await writeFile(path.join(home, ".pi/agent/auth.json"), "{");
    const before = await readTree(home);
    const said = await run(generate("pi", baseUrl).command);
    t.regex(
      said,
      /auth\.json was not changed: line 1 is not valid JSON\.\nTo change it manually, merge this into it:\n\{/,
    );
    t.regex(said, /"key": "<your API key>"/);
    t.true(said.trimEnd().endsWith("Nothing was changed. Correct the file, then repeat the command."), said);
    t.false(said.includes(keyValue));
    t.deepEqual(await readTree(home), before);
  });

  test(`in ${name}: links and foreign config.yaml files stay, and a jsonc is preferred`, async (t) => {
    const { home, run, baseUrl } = await createHome(t);
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
    t.regex(after["dotfiles/settings.json"] ?? "", /"model":"sonnet"|"model": "sonnet"/);
    t.is(after[".continue/config.yaml"], "name: mine\r\n");
    t.regex(after[".continue/configs/gateway.yaml"] ?? "", /model: "demo\/echo"\n/);
    t.regex(after[".config/opencode/opencode.jsonc"] ?? "", /"theme": "x","\$schema":.*\/\* mine \*\/ \}/);
    for (const tool of tools.toReversed()) await run(generate(tool, baseUrl).undo);
    t.deepEqual(await readTree(home), before);
  });

  test(`in ${name}: undo goes back step by step and keeps later changes`, async (t) => {
    const { home, run, baseUrl } = await createHome(t);
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

  test(`in ${name}: an unwritable file changes nothing and leaves no traces`, async (t) => {
    const { home, run, baseUrl } = await createHome(t);
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

  test(`in ${name}: a folder and a read-only file are rejected`, async (t) => {
    const { home, run, baseUrl } = await createHome(t);
    await mkdir(path.join(home, ".claude/settings.json"), { recursive: true });
    t.regex(
      await run(generate("claude-code", baseUrl).command),
      /settings\.json was not changed: it is a folder\./,
    );
    if (name === "pwsh" && process.getuid?.() === 0) return;
    await mkdir(path.join(home, ".codex"));
    await writeFile(path.join(home, ".codex/.env"), "");
    await chmod(path.join(home, ".codex/.env"), 0o444);
    t.regex(await run(generate("codex", baseUrl).command), /\.env was not changed: it is read-only\./);
  });

  test(`in ${name}: the key comes from the environment, and an invalid one is rejected`, async (t) => {
    const { run, baseUrl } = await createHome(t, { environment: { GATEWAY_API_KEY: keyValue } });
    const said = await run(generate("other", baseUrl, null).command);
    t.regex(said, /^Using the key in GATEWAY_API_KEY\.\n[^]*OK, 1 model\n/);
    for (const [key, why] of [
      ["sk-other", /does not start with sk-gateway-/],
      [keyValue.slice(1, 40), /does not start with sk-gateway-/],
      [keyValue.slice(0, 40), /is incomplete: it has 40 characters instead of 60\. Copy the key again/],
      [`${keyValue}a`, /is too long: it has 61 characters instead of 60\./],
      [
        `${keyValue.slice(0, -1)}_`,
        /contains an invalid character: only letters and digits follow sk-gateway-/,
      ],
    ] as const) {
      const wrong = await createHome(t, { environment: { GATEWAY_API_KEY: key } });
      t.regex(await wrong.run(generate("other", wrong.baseUrl, null).command), why);
      t.deepEqual(await readTree(wrong.home), {});
    }
  });

  const answers = [
    {
      status: 401,
      text: '{"error":{"message":"a \\"b\\"\\n\u001b]0;x\u0007c"}}',
      said: 'The gateway returned: a "b" ]0;xc (status 401)\n',
    },
    {
      status: 404,
      text: "<html>Not found</html>",
      said: "is not a Model Gateway: it returned status 404.",
    },
    {
      status: 0,
      text: "refused",
      said: "The gateway at http://127.0.0.1:9 does not respond (refused). Check the URL and the network.",
    },
    {
      status: 200,
      text: '{"data":[{"object":"model"},{"object": "model"}]}',
      said: "\nOK, 2 models\nThe key is not connected to demo/echo. Connect the model in the console.\n",
    },
  ];
  for (const { said, ...answer } of answers) {
    test(`in ${name}: a gateway's status ${answer.status} is reported`, async (t) => {
      const { run, baseUrl } = await createHome(t, { answer });
      const shown = await run(generate("codex", baseUrl).command);
      t.true(shown.includes(said), shown);
      t.true(shown.includes("To undo this"), shown);
    });
  }
}

test("in the stand-in: the key is prompted for and trimmed", async (t) => {
  const { run, baseUrl } = await powerShells.standIn(t, {
    environment: { TYPED: ` ${keyValue}\n` },
  });
  const { command } = generate("other", baseUrl, null);
  t.regex(command, /Read-Host -AsSecureString/);
  t.regex(await run(command), /OK, 1 model/);
});
