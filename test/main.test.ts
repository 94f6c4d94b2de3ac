import { exec } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import { eventually } from "./helpers/eventually.ts";
import { type GatewayProcess, startGatewayProcess } from "./helpers/gateway-process.ts";
import { openStream } from "./helpers/open-chat.ts";
import { chatBody, postChat } from "./helpers/post-chat.ts";
import { createTestFolder } from "./helpers/test-folder.ts";
import { createConsoleClient } from "./helpers/test-gateway.ts";

/** Starts a gateway for the first time, with a data folder that does not exist yet. */
async function startFirst(t: ExecutionContext, environment: Record<string, string> = {}) {
  const DATA_DIR = path.join(await createTestFolder(t), "data");
  const all = { PORT: "0", DATA_DIR, ...environment };
  const gateway = startGatewayProcess(t, all);
  const url = await gateway.listening();
  return { gateway, url, environment: all, keyValue: keyIn(gateway) ?? "" };
}

function keyIn(gateway: GatewayProcess): string | undefined {
  return /sk-gateway-[0-9A-Za-z]{49}/.exec(gateway.stdout())?.[0];
}

function curlLines(gateway: GatewayProcess): string[] {
  return gateway.stdout().match(/^curl .*$/gm) ?? [];
}

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

test.serial("the first start prints a working key, curl line and setup link", async (t) => {
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
  const account = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };
  const setUp = { token: link.searchParams.get("token") ?? "", ...account };
  t.like(await auth.setUp.mutate(setUp), { user: { email: "ada@example.com", role: "admin" } });
  t.deepEqual(await auth.state.query(), { setUp: true });
  await t.throwsAsync(auth.setUp.mutate(setUp), undefined, "it works once");

  // Ctrl-C sends SIGINT. The second start keeps the key and the account.
  gateway.child.kill("SIGINT");
  t.is(await gateway.exited, 0, gateway.stderr());
  t.false(gateway.stderr().includes(keyValue), "nothing of it is in the log");
  const second = startGatewayProcess(t, environment);
  const secondUrl = await second.listening();
  t.is(keyIn(second), undefined);
  t.deepEqual(curlLines(second), []);
  t.false(second.stdout().includes("/set-up"));
  t.is((await postChat({ url: secondUrl }, keyValue, chatBody("demo/echo"))).status, 200);
});

test.serial("created files are private to their owner", async (t) => {
  const { environment } = await startFirst(t);
  const { DATA_DIR } = environment;
  t.is(await modeOf(DATA_DIR), "700");
  for (const file of ["master.key", "jwt.key"]) t.is(await modeOf(path.join(DATA_DIR, file)), "600", file);
});

test.serial("the next start reuses the compile cache", async (t) => {
  const environment = { DATA_DIR: await createTestFolder(t), NODE_DEBUG_NATIVE: "COMPILE_CACHE" };
  const migrate = () => startGatewayProcess(t, environment, "migrate");
  t.is(await migrate().exited, 0);
  const second = migrate();
  t.is(await second.exited, 0);
  t.regex(second.stderr(), /code cache for ESM file:\S+\/gateway\/start\/run-command\.ts was accepted/);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test.serial(`${signal} drains open streams, refuses new connections, and exits 0`, async (t) => {
    const { gateway, url, keyValue } = await startFirst(t);
    const stream = await openStream({ url }, keyValue, "/slow 150 one two three four five");

    gateway.child.kill(signal);
    await eventually(() => gateway.stdout().includes("Finishing open requests"));
    await eventually(async () => {
      // A connection accepted just before the listener closed may still receive a response.
      const refused = await fetch(`${url}/healthz`, { headers: { connection: "close" } }).catch(
        () => "refused",
      );
      return refused === "refused";
    }, 700);

    t.true(await stream.ended);
    const text = stream.text();
    t.true(text.endsWith("data: [DONE]\n\n"), text.slice(-200));
    for (const word of ["one", "five"]) t.true(text.includes(word));
    t.is(await gateway.exited, 0, gateway.stderr());
  });
}

test.serial("a stream beyond the drain limit ends with an error, and the exit code is 0", async (t) => {
  const { gateway, url, keyValue } = await startFirst(t, { DRAIN_TIMEOUT_MS: "300" });
  const stream = await openStream({ url }, keyValue, `/slow 100 ${"word ".repeat(200)}`);

  gateway.child.kill("SIGTERM");

  t.true(await stream.ended);
  const text = stream.text();
  t.false(text.includes("[DONE]"));
  t.regex(text.trimEnd().split("\n\n").at(-1) ?? "", /"code":"service_unavailable"/);
  t.is(await gateway.exited, 0, gateway.stderr());
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

test.serial("migrate updates the schema in a private folder and starts nothing else", async (t) => {
  const DATA_DIR = path.join(await createTestFolder(t), "data");
  const migrate = () => startGatewayProcess(t, { DATA_DIR }, "migrate");
  const first = migrate();
  t.is(await first.exited, 0, first.stderr());
  t.regex(first.stdout(), /^Ran InitialSchema\d+(?:, [A-Z][A-Za-z]+\d+)*\.\n$/);

  const second = migrate();
  t.is(await second.exited, 0, second.stderr());
  t.is(second.stdout(), "The database schema is up to date.\n");
  t.is(await modeOf(DATA_DIR), "700");
});

test.serial("migrate --check lists pending migrations, changes nothing, and sets exit codes", async (t) => {
  const DATA_DIR = path.join(await createTestFolder(t), "data");
  const run = async (...parameters: string[]) => {
    const running = startGatewayProcess(t, { DATA_DIR }, "migrate", ...parameters);
    return { exitCode: await running.exited, said: running.stdout() };
  };
  for (const _ of [1, 2]) {
    const { exitCode, said } = await run("--check");
    t.is(exitCode, 1);
    t.regex(said, /^Pending migrations: InitialSchema\d+(?:, [A-Z][A-Za-z]+\d+)*\.\n$/);
  }
  t.is((await run()).exitCode, 0);
  t.deepEqual(await run("--check"), { exitCode: 0, said: "The database schema is up to date.\n" });
});

test("provider keys in the environment are offered by name until a provider exists", async (t) => {
  const MISTRAL_API_KEY = "sk-hidden-word-0123456789";
  const administrator = { ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "correct horse battery" };
  const DATA_DIR = await createTestFolder(t);
  const environment = { PORT: "0", DATA_DIR, MISTRAL_API_KEY, ...administrator };
  const gateway = startGatewayProcess(t, environment);
  const url = await gateway.listening();
  t.regex(gateway.stdout(), /contains keys for new providers: MISTRAL_API_KEY\.\n/);

  const { accessToken } = await createConsoleClient(url).auth.signIn.mutate({
    email: administrator.ADMIN_EMAIL,
    password: administrator.ADMIN_PASSWORD,
  });
  const { providers } = createConsoleClient(url, accessToken);
  t.deepEqual(
    (await providers.list.query()).map(({ name }) => name),
    ["demo"],
    "nothing is imported silently",
  );
  await providers.importFromEnvironment.mutate({ variables: ["MISTRAL_API_KEY"] });
  gateway.child.kill("SIGTERM");
  t.is(await gateway.exited, 0, gateway.stderr());

  const second = startGatewayProcess(t, environment);
  await second.listening();
  for (const process of [gateway, second]) {
    t.false((process.stdout() + process.stderr()).includes("hidden-word"));
  }
  t.false(second.stdout().includes("MISTRAL_API_KEY"));
});
