import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { plainAnswer } from "../scenarios/step.ts";
import { codex } from "./coding-tools.ts";
import { codingModel } from "./coding-model.ts";
import type { ToolConnection } from "./connect-tool-upstream.ts";
import { installTool } from "./install-tool.ts";
import { runProgram } from "./run-program.ts";
import { shareToolUpstreams } from "./share-tool-upstreams.ts";
import { createToolHome } from "./tool-home.ts";
import { claudeUpstream } from "./tool-upstreams.ts";

// The tests follow OpenAI's checklist for gateways, except WebSockets, which codex-websocket.test.ts covers:
// https://learn.chatgpt.com/docs/enterprise/gateway-compatibility

const gateway = shareGateway();
const prepare = shareToolUpstreams(gateway);
const refused = new Set(process.env["TEST_TOOLS_REFUSED"]?.split(","));
const declare = refused.has(codex.name) ? test.serial.skip : test.serial;
const slug = `${claudeUpstream.provider}/${claudeUpstream.form.model}`;

/** Prepares Codex without request and stream retries. */
async function start(t: ExecutionContext, connection: ToolConnection, apiKey?: string) {
  t.timeout(400_000);
  const installed = await installTool(codex);
  if ("said" in installed) throw new Error(installed.said);
  const access = connection.accessTo(claudeUpstream.form.model);
  const { project, environment } = await createToolHome(t, codex, { ...access, ...(apiKey && { apiKey }) });
  const settings = ["request_max_retries", "stream_max_retries"].flatMap((name) => [
    "-c",
    `model_providers.gateway.${name}=0`,
  ]);
  const run = async (parameters: string[]) => {
    const all = ["exec", "--skip-git-repo-check", ...settings, ...parameters];
    const result = await runProgram(installed.command, all, {
      folder: project,
      environment,
      timeoutMs: 150_000,
    });
    return { code: result.code, text: result.stdout + result.stderr, stdout: result.stdout };
  };
  return { project, run };
}

/** The conversation that several tests check. The first of them holds it. */
let conversation: ReturnType<typeof converse> | undefined;
const shareConversation = (t: ExecutionContext) => (conversation ??= converse(t));

/** Codex reads a file with its own tool and answers, then answers a second prompt in the same thread. */
async function converse(t: ExecutionContext) {
  const connection = await prepare(claudeUpstream);
  const { project, run } = await start(t, connection);
  const word = randomBytes(6).toString("hex");
  const file = path.join(project, "notes.txt");
  await writeFile(file, `The word of the day is ${word}.\n`);
  const call = codex.readFile?.(file);
  if (!call) throw new Error("Codex reads files.");
  const prompt = "Which word is in notes.txt?";
  const conclude = (results: string) => [`The word is ${/day is (\w+)/.exec(results)?.[1]}.`];
  connection.script = codingModel({ prompt, reader: call.name, calls: [call], conclude });
  const first = await run([prompt]);
  t.is(first.code, 0, first.text);
  connection.script = () => ({ ...plainAnswer, text: ["As I ", "said."] });
  const second = await run(["resume", "--last", "Say it again."]);
  t.is(second.code, 0, second.text);
  const followUp = JSON.stringify(connection.upstream.asked.at(-1)?.turns);
  // `newRecords` returns only records of the connection's own key.
  const records = await connection.newRecords();
  const { refusals, apiKey } = connection.upstream;
  // Later tests clear the connection's lists.
  const copies = {
    faults: [...connection.faults],
    gatewayLog: [...connection.gatewayLog],
    refusals: [...refusals],
  };
  return { prompt, word, first, second, followUp, records, apiKey, ...copies };
}

declare("Codex: Responses request and response fields", async (t) => {
  const { faults, refusals } = await shareConversation(t);
  t.deepEqual(faults, []);
  t.deepEqual(refusals, []);
});

declare("Codex: incremental SSE delivery and successful terminal completion", async (t) => {
  const connection = await prepare(claudeUpstream);
  const { run } = await start(t, connection);
  const answer = { ...plainAnswer, text: ["Half ", "an answer."] };
  connection.script = () => ({ ...answer, ending: "silence" });
  const impatient = ["-c", "model_providers.gateway.stream_idle_timeout_ms=1000"];
  t.not((await run([...impatient, "say hi"])).code, 0);
  t.regex(connection.relayed.join(""), /Half /);
  t.notRegex(connection.relayed.join(""), /response\.completed/);
  connection.script = () => answer;
  t.is((await run(["say hi"])).code, 0);
  t.regex(connection.relayed.join(""), /event: response\.completed/);
});

declare("Codex: follow-up turns with replayed input", async (t) => {
  const { prompt, word, second, followUp } = await shareConversation(t);
  t.true(second.stdout.includes("As I said."), second.text);
  for (const part of [prompt, `The word is ${word}.`, "Say it again."]) t.true(followUp.includes(part), part);
});

declare("Codex: function calls, matching results, and a final answer", async (t) => {
  const { word, first } = await shareConversation(t);
  t.true(first.stdout.includes(`The word is ${word}.`), first.text);
});

declare("Codex: correct model routing and per-user attribution", async (t) => {
  const { records } = await shareConversation(t);
  t.is(records.length, 3);
  for (const record of records) t.like(record, { model: slug, status: "SUCCEEDED", endpoint: "responses" });
});

declare("Codex: renewal and revocation, with a useful authentication error", async (t) => {
  const connection = await prepare(claudeUpstream);
  const { key, value } = await gateway().admin.keys.create.mutate({ name: "Leaver", models: [slug] });
  const { run } = await start(t, connection, value);
  connection.script = () => ({ ...plainAnswer, text: ["Hello."] });
  t.is((await run(["say hi"])).code, 0);
  await gateway().admin.keys.deactivate.mutate({ id: key.id });
  const { code, text } = await run(["say hi"]);
  t.not(code, 0);
  t.regex(text, /401 Unauthorized/);
  t.false(text.includes(value));
  const renewed = await start(t, connection);
  t.is((await renewed.run(["say hi"])).code, 0);
});

declare("Codex: a useful routing error for an unknown model", async (t) => {
  const connection = await prepare(claudeUpstream);
  const { run } = await start(t, connection);
  const { code, text } = await run(["-m", "anthropic/none", "say hi"]);
  t.not(code, 0);
  t.regex(text, /anthropic\/none/);
});

declare("Codex: redacted diagnostics", async (t) => {
  const { prompt, word, gatewayLog, apiKey } = await shareConversation(t);
  const log = gatewayLog.join("\n");
  for (const secret of [prompt, word, apiKey]) t.false(log.includes(secret));
});

for (const [title, refusal, expected] of [
  ["rate-limit error", new VendorRefusal("rate limited", "Slow down."), /429|rate limit|Slow down/i],
  ["upstream error", new VendorRefusal("invalid", "Your prompt is too odd."), /Your prompt is too odd/],
] as const) {
  declare(`Codex: a useful ${title}`, async (t) => {
    const connection = await prepare(claudeUpstream);
    const { run } = await start(t, connection);
    connection.script = () => {
      throw refusal;
    };
    const { code, text } = await run(["say hi"]);
    t.not(code, 0);
    t.regex(text, expected);
  });
}
