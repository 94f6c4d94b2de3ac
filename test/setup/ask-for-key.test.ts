import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { findProgram } from "../helpers/system-packages.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { openTerminal } from "./open-terminal.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { keyValue, setupModel } from "./setup-models.ts";
import { shellNames } from "./shells.ts";

const gateway = shareGateway();
const model = setupModel("demo/echo");
const models = { light: model, daily: model, hard: model, connected: [model] };
// The pasted command also contains this text, but not at the start of a line.
const prompt = /[\r\n]Gateway API key \(hidden\): $/;
const settings = ".claude/settings.json";

function generate(key: string | null): string {
  const { url: baseUrl } = gateway();
  return generateSetup({ tool: "claude-code", operatingSystem: "posix", baseUrl, key, models }).command;
}

async function openHome(t: ExecutionContext, shell: string) {
  const { home, environment, run } = await createSetupHome(t);
  const history = path.join(home, "history");
  // `HISTCONTROL` has the default of Debian and Ubuntu. `SAVEHIST` is for zsh.
  const more = { HISTFILE: history, HISTCONTROL: "ignoreboth", HISTSIZE: "500", SAVEHIST: "500" };
  const terminal = await openTerminal(t, { shell, environment: { ...environment, ...more } });
  const readHistory = () => readFile(history, "utf8").catch(() => "");
  return { home, terminal, readHistory, run };
}

for (const shell of shellNames) {
  const declare = findProgram(shell) && findProgram("script") ? test.serial : test.skip;

  declare(`the setup pasted into ${shell} prompts for the key without echo or history`, async (t) => {
    const { value: key } = await createKey(gateway(), ["demo/echo"]);
    const { home, terminal, readHistory } = await openHome(t, shell);
    // The command must work with interactive comments off and history expansion on.
    if (shell === "zsh") terminal.paste("unsetopt interactivecomments; setopt banghist\n");
    if (shell === "bash") terminal.paste("shopt -u interactive_comments; set -H\n");
    terminal.paste(generate(null));
    await terminal.waitFor(prompt);
    terminal.type(`${key}\r`);
    await terminal.waitFor(/\nOK, 1 model\r/);
    await terminal.waitFor(/To undo this: sh ~[^$]*\r\n[^]*READY> /);
    terminal.paste("echo still-$((40 + 2))\n");
    await terminal.waitFor(/still-42/);
    await terminal.close();
    t.false(terminal.screen().includes(key));
    t.false((await readHistory()).includes(key));
    t.true((await readFile(path.join(home, settings), "utf8")).includes(key));
  });
}

for (const shell of ["bash", "zsh"]) {
  const declare = findProgram(shell) && findProgram("script") ? test.serial : test.skip;

  declare(`${shell} keeps a setup with a key, pasted in brackets, out of its history`, async (t) => {
    const { value: key } = await createKey(gateway(), ["demo/echo"]);
    const { home, terminal, readHistory } = await openHome(t, shell);
    if (shell === "zsh") terminal.paste("setopt histignorespace incappendhistory\n");
    terminal.type(`\u001b[200~${generate(key).trimEnd()}\u001b[201~\r`);
    await terminal.waitFor(/\nOK, 1 model\r/);
    terminal.paste("echo remembered\n");
    await terminal.close();
    const history = await readHistory();
    t.true(history.includes("echo remembered"), history);
    t.false(history.includes(key.slice(0, 30)), history);
    t.true((await readFile(path.join(home, settings), "utf8")).includes(key));
  });
}

(findProgram("script") ? test.serial : test.skip)(
  "Ctrl-C changes nothing and restores the terminal's echo",
  async (t) => {
    const { home, terminal } = await openHome(t, "bash");
    const before = await readTree(home);
    terminal.paste(generate(null));
    await terminal.waitFor(prompt);
    terminal.type("sk-half\u0003");
    await terminal.waitFor(/: [^]*READY> $/);
    terminal.paste("stty -a | tr ' ' '\\n' | grep -x -e echo -e -echo\n");
    await terminal.waitFor(/[\r\n]echo\r/);
    t.deepEqual(await readTree(home), before);
    t.false(terminal.screen().includes("sk-half"));
  },
);

test("without a terminal, the key comes from the environment, as reported", async (t) => {
  const { value: key } = await createKey(gateway(), ["demo/echo"]);
  const { run } = await createSetupHome(t);
  const { code, stdout, stderr } = await run("dash", generate(null), { GATEWAY_API_KEY: key });
  t.is(code, 0, stderr);
  t.true(stdout.startsWith("Using the key in GATEWAY_API_KEY.\n"), stdout);
});

test("without a terminal and a key, the setup explains what to do", async (t) => {
  const { home, run } = await createSetupHome(t);
  const { code, stderr } = await run("dash", generate(null));
  t.is(code, 1);
  t.regex(
    stderr,
    /There is no terminal to prompt for the API key\. Set the environment variable GATEWAY_API_KEY/,
  );
  t.deepEqual(await readTree(home), {});
});

const noKeysCharacters = "contains an invalid character: only letters and digits follow sk-gateway-";
const wrongKeys: [title: string, key: string, said: string][] = [
  [
    "of another product",
    "sk-ant-0123456789012345678901234567890123456789012345678901234",
    "does not start with sk-gateway-",
  ],
  ["that is cut off", keyValue.slice(0, -1), "is incomplete: it has 59 characters instead of 60"],
  ["that has just begun", keyValue.slice(0, 19), "is incomplete: it has 19 characters instead of 60"],
  ["that is too long", `${keyValue}a`, "is too long: it has 61 characters instead of 60"],
  ["that would run", `sk-gateway-$(touch "$HOME/canary")\`touch "$HOME/canary"\`0123`, noKeysCharacters],
  ["with a quote in it", `sk-gateway-"${keyValue.slice(12)}`, noKeysCharacters],
  ["with a line break", `sk-gateway-\n${keyValue.slice(12)}`, noKeysCharacters],
];

test("a wrong key is rejected before any change", async (t) => {
  const { home, run } = await createSetupHome(t);
  await writeFile(path.join(home, "other"), "");
  for (const [title, key, said] of wrongKeys) {
    const { code, stdout, stderr } = await run("dash", generate(null), { GATEWAY_API_KEY: key });
    t.is(code, 1, title);
    t.true(
      stderr.includes(
        `The key in GATEWAY_API_KEY ${said}. Copy the key again, or create a new one in the console.`,
      ),
      stderr,
    );
    t.false((stdout + stderr).includes(key), title);
    t.deepEqual(Object.keys(await readTree(home)), ["other"], title);
  }
});

const otherModels = { light: model, daily: model, hard: setupModel("demo/other"), connected: [model] };

function commandFor(baseUrl: string, key: string): string {
  return generateSetup({ tool: "codex", operatingSystem: "posix", baseUrl, key, models: otherModels })
    .command;
}

/** Records the program's arguments, which must not contain the key, because every user of a machine can list them. */
async function watchProgram(file: string, log: string): Promise<void> {
  await rename(file, `${file}.real`);
  await writeFile(file, `#!/bin/sh\nprintf '%s\\n' "$0" "$@" >>'${log}'\nexec '${file}.real' "$@"\n`);
  await chmod(file, 0o755);
}

for (const client of ["curl", "wget", "node", "python3", "perl"]) {
  const declare = findProgram(client) ? test : test.skip;

  declare(`${client}: a refused key or no answer changes nothing, and a check counts models`, async (t) => {
    const { home, run, folder } = await createSetupHome(t, { programs: [client] });
    const refused = await run("dash", commandFor(gateway().url, keyValue));
    t.is(refused.code, 1);
    // wget discards the body of a response with status 401.
    const expected = client === "wget" ? /rejected this key/ : /The gateway returned: .*API key/;
    t.regex(refused.stderr, new RegExp(`${expected.source}.* \\(status 401\\)`));
    t.true(refused.stderr.endsWith("Nothing was changed.\n"), refused.stderr);
    t.false((refused.stdout + refused.stderr).includes(keyValue));

    const unreachable = await run("dash", commandFor("http://127.0.0.1:9", keyValue));
    t.is(unreachable.code, 1);
    t.regex(
      unreachable.stderr,
      /The gateway at http:\/\/127\.0\.0\.1:9 does not respond \(.+\)\. Check the URL and the network\.\nNothing was changed\.\n$/,
    );
    t.deepEqual(await readTree(home), {});

    const log = path.join(folder, "calls");
    for (const name of [client, "awk", "grep", "tr"]) await watchProgram(path.join(folder, "bin", name), log);
    const { value: key } = await createKey(gateway(), ["demo/echo"]);
    const { code, stdout, stderr } = await run("dash", commandFor(gateway().url, key));
    t.is(code, 0, stderr);
    t.true(stdout.includes("\nOK, 1 model\n"), stdout + stderr);
    t.true(stderr.includes("The key is not connected to demo/other."), stderr);
    const calls = await readFile(log, "utf8");
    t.true(calls.includes(`${client}\n`));
    t.false(calls.includes(key), calls);
  });
}

test("a response cannot control the terminal", async (t) => {
  const { stderr } = await answerWith(t, 500, '{"error":{"message":"a \\"b\\"\\n\u001b]0;x\u0007c"}}');
  t.true(stderr.includes('The gateway returned: a "b" ]0;xc (status 500)\n'), stderr);
  t.notRegex(stderr.replaceAll("\n", ""), /\p{Cc}/u);
});

test("a response that is not a gateway's is reported", async (t) => {
  const { code, stderr } = await answerWith(t, 404, "<html>Not found</html>");
  t.is(code, 1);
  t.regex(stderr, /The server at http:\/\/127\.0\.0\.1:\d+ is not a Model Gateway: it returned status 404/);
});

async function answerWith(t: ExecutionContext, status: number, body: string) {
  const { url } = await createUpstream(t, (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  const { run } = await createSetupHome(t, { programs: ["curl"] });
  return run("dash", commandFor(url, keyValue));
}
