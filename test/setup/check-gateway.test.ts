import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { findProgram } from "../helpers/system-packages.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { createSetupHome } from "./setup-home.ts";
import { keyValue, setupModel } from "./setup-models.ts";

const gateway = shareGateway();
const model = setupModel("demo/echo");
const models = { light: model, daily: model, hard: setupModel("demo/other"), connected: [model] };

function commandFor(baseUrl: string, key: string): string {
  return generateSetup({ tool: "codex", operatingSystem: "posix", baseUrl, key, models }).command;
}

/** Records the arguments of each program, which all users of the machine can see. */
async function watchProgram(file: string, log: string): Promise<void> {
  await rename(file, `${file}.real`);
  await writeFile(file, `#!/bin/sh\nprintf '%s\\n' "$0" "$@" >>'${log}'\nexec '${file}.real' "$@"\n`);
  await chmod(file, 0o755);
}

for (const client of ["curl", "wget", "node", "python3", "perl"]) {
  const declare = findProgram(client) ? test : test.skip;

  declare(`${client}: the check reports the number of models and the missing one`, async (t) => {
    const { run, folder } = await createSetupHome(t, { programs: [client] });
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

  declare(`${client}: the check repeats the gateway's refusal of the key`, async (t) => {
    const { run } = await createSetupHome(t, { programs: [client] });
    const { code, stdout, stderr } = await run("dash", commandFor(gateway().url, keyValue));
    t.is(code, 1);
    // wget discards the body of a response with this status.
    const expected = client === "wget" ? /rejected this key/ : /The gateway returned: .*API key/;
    t.regex(stderr, new RegExp(`${expected.source}.* \\(status 401\\)`));
    t.true(stdout.includes("To undo this"));
    t.false((stdout + stderr).includes(keyValue));
  });

  declare(`${client}: the check reports an unreachable gateway`, async (t) => {
    const { run } = await createSetupHome(t, { programs: [client] });
    const { code, stderr } = await run("dash", commandFor("http://127.0.0.1:9", keyValue));
    t.is(code, 1);
    t.regex(
      stderr,
      /The gateway at http:\/\/127\.0\.0\.1:9 does not respond\. Check the URL and the network: ./,
    );
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
