import { exec } from "node:child_process";
import { stat } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import { welcome } from "../gateway/start/welcome.ts";
import { connectUpstream } from "./helpers/connect-upstream.ts";
import { eventually, hangMs } from "./helpers/eventually.ts";
import { type GatewayProcess, startGatewayProcess } from "./helpers/gateway-process.ts";
import { openStream } from "./helpers/open-chat.ts";
import { chatBody, postChat } from "./helpers/post-chat.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  usageEvent,
} from "./helpers/scripted-upstream.ts";
import { createTestFolder } from "./helpers/test-folder.ts";
import { runInProcess } from "./helpers/run-in-process.ts";
import {
  createConsoleClient,
  createKey,
  patience,
  signIn,
  startTestGateway,
} from "./helpers/test-gateway.ts";

/** Starts a gateway for the first time, with a data folder that does not exist yet. */
async function startFirst(t: ExecutionContext) {
  const environment = {
    PORT: "0",
    DATA_DIR: path.join(await createTestFolder(t), "data"),
    UPSTREAM_PRIVATE_HOSTS: "*",
    DRAIN_TIMEOUT_MS: String(hangMs),
    ...patience,
  };
  const gateway = startGatewayProcess(t, environment);
  const url = await gateway.listening();
  return { gateway, url, environment, keyValue: keyIn(gateway) ?? "" };
}

function keyIn(gateway: GatewayProcess): string | undefined {
  return /sk-gateway-[0-9A-Za-z]{49}/.exec(gateway.stdout())?.[0];
}

function curlLines(gateway: GatewayProcess): string[] {
  return gateway.stdout().match(/^curl .*$/gm) ?? [];
}

/** The signal must drain an open stream and refuse new connections, and the process must exit with 0. */
async function assertDrains(
  t: ExecutionContext,
  { gateway, url }: { gateway: GatewayProcess; url: string },
  signal: NodeJS.Signals,
) {
  const begun = Promise.withResolvers<ServerResponse>();
  const upstream = await createUpstream(t, (_request, response) => {
    beginStream(response);
    response.write(chunkEvent("one"));
    begun.resolve(response);
  });
  const admin = await signIn(url, account);
  const { value, model } = await connectUpstream({ admin }, upstream, { name: signal.toLowerCase() });
  const stream = await openStream({ url }, value, "Hi", model);
  gateway.child.kill(signal);
  await eventually(() => gateway.stdout().includes("Finishing open requests"));
  await eventually(async () => {
    // A connection accepted just before the listener closed may still receive a response.
    const refused = await fetch(`${url}/healthz`, { headers: { connection: "close" } }).catch(
      () => "refused",
    );
    return refused === "refused";
  });
  (await begun.promise).end(chunkEvent("five") + usageEvent + doneEvent);
  t.true(await stream.ended);
  const text = stream.text();
  t.true(text.endsWith("data: [DONE]\n\n"), text.slice(-200));
  for (const word of ["one", "five"]) t.true(text.includes(word));
  t.is(await gateway.exited, 0, gateway.stderr());
}

const account = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

test.serial("a first start prints key and links, a second keeps them, and signals drain both", async (t) => {
  const { gateway, url, keyValue, environment } = await startFirst(t);
  const [request = "", ...more] = curlLines(gateway);
  t.deepEqual(more, []);
  t.is(gateway.stdout().split("shown only once").length, 2);
  t.is(gateway.stderr(), "");

  const answer = await promisify(exec)(`${request} --silent --fail`);
  t.like(JSON.parse(answer.stdout), { choices: [{ message: { content: "Hello, gateway!" } }] });

  const { auth } = createConsoleClient(url);
  t.deepEqual(await auth.state.query(), { setUp: false });
  const link = new URL(/^http:\S+\/set-up\?token=\S+$/m.exec(gateway.stdout())?.[0] ?? "");
  t.is(link.origin, url);
  const setUp = { token: link.searchParams.get("token") ?? "", ...account };
  t.like(await auth.setUp.mutate(setUp), { user: { email: "ada@example.com", role: "admin" } });
  t.deepEqual(await auth.state.query(), { setUp: true });
  await t.throwsAsync(auth.setUp.mutate(setUp), undefined, "it works once");

  t.is(await modeOf(environment.DATA_DIR), "700");
  for (const file of ["master.key", "jwt.key"])
    t.is(await modeOf(path.join(environment.DATA_DIR, file)), "600", file);

  // Ctrl-C sends SIGINT. The second start keeps the key and the account.
  await assertDrains(t, { gateway, url }, "SIGINT");
  t.false(gateway.stderr().includes(keyValue), "nothing of it is in the log");
  const second = startGatewayProcess(t, environment);
  const secondUrl = await second.listening();
  t.is(keyIn(second), undefined);
  t.deepEqual(curlLines(second), []);
  t.false(second.stdout().includes("/set-up"));
  t.is((await postChat({ url: secondUrl }, keyValue, chatBody("demo/echo"))).status, 200);
  await assertDrains(t, { gateway: second, url: secondUrl }, "SIGTERM");
});

test.serial("a closed output pipe does not stop requests in flight", async (t) => {
  const { gateway, url, keyValue } = await startFirst(t);
  const { child } = gateway;
  const stream = await openStream({ url }, keyValue, "/slow 100 one two three four five six");
  // Ctrl-C also ends a program that reads the output, such as `tee`.
  child.stdout?.destroy();
  child.stderr?.destroy();

  child.kill("SIGINT");
  t.true(await stream.ended);
  t.true(stream.text().endsWith("data: [DONE]\n\n"));
  t.is(await gateway.exited, 0);
});

test.serial("a second Ctrl-C stops at once, while a doubled signal counts as one", async (t) => {
  const { gateway, url, keyValue } = await startFirst(t);
  const { child } = gateway;
  await openStream({ url }, keyValue, `/slow 200 ${"word ".repeat(150)}`);

  // On Ctrl-C, a terminal signals both npm and the gateway, and npm forwards its signal.
  child.kill("SIGINT");
  child.kill("SIGINT");
  await eventually(() => gateway.stdout().includes("again to stop at once"));
  t.is(child.exitCode, null);

  const code = await eventually(() => {
    child.kill("SIGINT");
    return child.exitCode;
  });
  t.is(code, 1);
});

test.serial("migrate and --check report the schema, set exit codes, and use the compile cache", async (t) => {
  const DATA_DIR = path.join(await createTestFolder(t), "data");
  const environment = { DATA_DIR, NODE_DEBUG_NATIVE: "COMPILE_CACHE" };
  const run = async (...parameters: string[]) => {
    const running = startGatewayProcess(t, environment, "migrate", ...parameters);
    return { exitCode: await running.exited, said: running.stdout(), log: running.stderr() };
  };
  const pending = await run("--check");
  t.is(pending.exitCode, 1);
  t.regex(pending.said, /^Pending migrations: InitialSchema\d+(?:, [A-Z][A-Za-z]+\d+)*\.\n$/);

  const first = await run();
  t.is(first.exitCode, 0, first.log);
  t.regex(first.said, /^Ran InitialSchema\d+(?:, [A-Z][A-Za-z]+\d+)*\.\n$/, "the check has changed nothing");
  t.is(await modeOf(DATA_DIR), "700");

  const second = await run();
  t.like(second, { exitCode: 0, said: "The database schema is up to date.\n" });
  t.regex(second.log, /code cache for ESM file:\S+\/gateway\/start\/run-command\.ts was accepted/);
  t.deepEqual(await runInProcess({ DATA_DIR }, "migrate", "--check"), {
    exitCode: 0,
    stdout: "The database schema is up to date.\n",
    stderr: "",
  });
});

test.serial("a stream beyond the drain limit ends with an error", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DRAIN_TIMEOUT_MS: "300" } });
  const { value } = await createKey(gateway);
  const stream = await openStream(gateway, value, `/slow 100 ${"word ".repeat(200)}`);

  await gateway.close();

  t.true(await stream.ended);
  const text = stream.text();
  t.false(text.includes("[DONE]"));
  t.regex(text.trimEnd().split("\n\n").at(-1) ?? "", /"code":"service_unavailable"/);
});

test.serial("provider keys in the environment are offered by name until a provider exists", async (t) => {
  const environment = { MISTRAL_API_KEY: "sk-hidden-word-0123456789" };
  const gateway = await startTestGateway(t, { environment });
  t.regex(await welcome(gateway), /contains keys for new providers: MISTRAL_API_KEY\.\n/);

  await gateway.admin.providers.importFromEnvironment.mutate({ variables: ["MISTRAL_API_KEY"] });
  await gateway.close();

  const second = await startTestGateway(t, { environment: gateway.environment });
  const said = await welcome(second);
  t.false(said.includes("MISTRAL_API_KEY"));
  for (const { log } of [gateway, second]) t.false((said + log.join("")).includes("hidden-word"));
});
