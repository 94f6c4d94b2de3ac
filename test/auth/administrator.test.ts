import test, { type ExecutionContext } from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { auditEntries } from "../helpers/audit-entries.ts";
import { Browser } from "../helpers/browser.ts";
import { callProcedure } from "../helpers/call-procedure.ts";
import { linkToken } from "../helpers/link-token.ts";
import { runInProcess } from "../helpers/run-in-process.ts";
import { createMigratedDatabase, databaseKinds } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import {
  administrator,
  patience,
  startTestGateway,
  type TestGateway,
  weakestStrength,
} from "../helpers/test-gateway.ts";

async function startNew(t: ExecutionContext, environment: Record<string, string>) {
  const log: string[] = [];
  const runtime = {
    ...systemRuntime(createLog("info", { write: (line) => log.push(line) })),
    hashStrength: weakestStrength,
  };
  const gateway = await startGateway(readConfig({ PORT: "0", ...patience, ...environment }), runtime);
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= gateway.close());
  t.teardown(close);
  const setUp = (token: string, email = "ada@example.com") =>
    callProcedure(gateway, "auth.setUp", {
      input: { token, name: "Ada", email, password: "correct horse battery" },
    });
  const isSetUp = async () => (await callProcedure(gateway, "auth.state", { type: "query" })).data;
  const isRight = async (token: string) =>
    (await callProcedure(gateway, "auth.setUpToken", { type: "query", input: { token } })).data;
  return { gateway, close, setUp, isSetUp, isRight, log, token: gateway.services.accounts.setUpToken };
}

for (const kind of databaseKinds) {
  test(`${kind}: of ten simultaneous setups exactly one creates the administrator`, async (t) => {
    const environment = {
      DATABASE_URL: await createMigratedDatabase(t, kind),
      DATA_DIR: await createTestFolder(t),
    };
    const { setUp, isSetUp, token, gateway } = await startNew(t, environment);
    t.deepEqual(await isSetUp(), { setUp: false });

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => setUp(token, `person${index}@example.com`)),
    );

    t.is(answers.filter(({ status }) => status === 200).length, 1);
    t.is(answers.filter(({ code }) => code === "FORBIDDEN").length, 9);
    t.is(await gateway.services.database.read(({ users }) => users.count()), 1);
    t.deepEqual(await isSetUp(), { setUp: true });
    t.is((await setUp(token)).code, "FORBIDDEN", "the token works once");
  });

  test(`${kind}: a wrong setup token is refused`, async (t) => {
    const environment = {
      DATABASE_URL: await createMigratedDatabase(t, kind),
      DATA_DIR: await createTestFolder(t),
    };
    const { setUp, isSetUp, isRight, token, log } = await startNew(t, environment);

    for (const wrong of ["", "x", token.slice(0, -1), `${token}x`, token.toUpperCase(), "é".repeat(43)]) {
      t.deepEqual(await isRight(wrong), { isRight: false }, wrong);
      const answer = await setUp(wrong);
      t.is(answer.code, "FORBIDDEN", wrong);
      t.is(answer.error?.data.param, "token");
      t.false(answer.text.includes(token));
    }
    t.deepEqual(await isSetUp(), { setUp: false });
    t.false(log.join("").includes(token));
    t.deepEqual(await isRight(token), { isRight: true });
    t.is((await setUp(token)).status, 200);
  });

  test(`${kind}: ADMIN_EMAIL and ADMIN_PASSWORD create only the first administrator`, async (t) => {
    const DATABASE_URL = await createMigratedDatabase(t, kind);
    const environment = { DATABASE_URL, DATA_DIR: await createTestFolder(t) };
    const start = (email: string) =>
      startNew(t, { ...environment, ADMIN_EMAIL: email, ADMIN_PASSWORD: "correct horse" });
    const first = await start("Ada@Example.com");
    t.deepEqual(await first.isSetUp(), { setUp: true });
    const signIn = (email: string) =>
      callProcedure(first.gateway, "auth.signIn", { input: { email, password: "correct horse" } });
    t.like((await signIn("ada@example.com")).data, { user: { role: "admin", email: "ada@example.com" } });
    t.is((await first.setUp(first.token)).code, "FORBIDDEN");
    t.false(first.log.join("").includes("correct horse"));
    await first.close();

    const second = await start("eve@example.com");
    t.is(await second.gateway.services.database.read(({ users }) => users.count()), 1);
  });
}

test("a sign-in and a setup wait until the start has created the administrator", async (t) => {
  const { gateway, token } = await startNew(t, { DATA_DIR: await createTestFolder(t) });
  const { accounts } = gateway.services;
  const password = "correct horse";
  const creation = accounts.createFirstAdministrator({ email: "ada@example.com", password });

  const signIn = accounts.signIn("ada@example.com", password, "127.0.0.1");
  const isSetUp = accounts.isSetUp();
  const setUp = accounts.setUp(token, { name: "Eve", email: "eve@example.com", password }, "127.0.0.1");

  await t.throwsAsync(setUp, { message: "An administrator already exists. Sign in instead." });
  t.true(await isSetUp);
  t.like(await signIn, { user: { role: "admin", email: "ada@example.com" } });
  t.true(await creation);
});

test("every start before the setup accepts the same token", async (t) => {
  const environment = { DATA_DIR: await createTestFolder(t) };
  const first = await startNew(t, environment);
  await first.close();
  const second = await startNew(t, environment);
  t.is(second.token, first.token);
  t.is((await second.setUp(first.token)).status, 200);
});

const reset = (environment: Record<string, string>, ...parameters: string[]) =>
  runInProcess(environment, "people:reset", ...parameters);

const configOf = ({ environment }: TestGateway, more: Record<string, string> = {}) => {
  const { DATA_DIR = "", DATABASE_URL = "" } = environment;
  return { DATA_DIR, DATABASE_URL, ...more };
};

const password = "a new password";

async function join(gateway: TestGateway, link: string) {
  const token = linkToken(link);
  const browser = new Browser(gateway);
  return browser.call("auth.join", { input: { token, name: administrator.name, password } });
}

for (const kind of databaseKinds) {
  test(`${kind}: with the gateway running, the link sets a new password once`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const before = new Browser(gateway);
    await before.signIn(administrator.email, administrator.password);
    const environment = configOf(gateway, { PUBLIC_URL: "https://gateway.example.com" });
    const { exitCode, stdout: said, stderr } = await reset(environment, administrator.email.toUpperCase());
    t.is(exitCode, 0, stderr);
    const [link = ""] = /https:\/\/gateway\.example\.com\/join#token=\S+/.exec(said) ?? [];
    t.regex(said, /^Single-use password reset link for Ada \(ada@example\.com\), valid until 20\d\d-/);
    t.is(await before.messageOf(), "OK", "until the link is used, nothing is lost");

    t.is((await join(gateway, link)).status, 200);
    t.is((await join(gateway, link)).code, "NOT_FOUND", "it works once");
    t.is(await before.messageOf(), "UNAUTHORIZED");
    t.is((await new Browser(gateway).signIn(administrator.email, password)).status, 200);

    const entries = await auditEntries(gateway);
    const entry = entries.find(({ action }) => action === "user.resetPassword");
    t.like(entry, { actorId: null, actorName: null, address: "command line", entityName: "Ada" });
    t.false(JSON.stringify(entries).includes(linkToken(link)));
  });

  test(`${kind}: with the gateway stopped, it reports where the link would point`, async (t) => {
    const stopped = await startTestGateway(t, { kind });
    await stopped.close();
    const { exitCode, stdout: said } = await reset(configOf(stopped, { PORT: "8123" }), administrator.email);
    t.is(exitCode, 0);
    const [link = ""] = /http:\/\/127\.0\.0\.1:8123\/join#token=\S+/.exec(said) ?? [];
    const { DATA_DIR = "", DATABASE_URL = "" } = stopped.environment;
    const environment = { DATA_DIR, DATABASE_URL };
    const again = await startTestGateway(t, { kind, environment, withoutAdministrator: true });
    t.is((await join(again, link)).status, 200);
  });
}

test("an unknown address is reported with the administrators' addresses", async (t) => {
  const gateway = await startTestGateway(t);
  t.deepEqual(await reset(configOf(gateway), "adda@example.com"), {
    exitCode: 1,
    stdout: "",
    stderr:
      "No user has the address adda@example.com. Use an existing user's address. Administrators: ada@example.com.\n",
  });
});

test("a missing or a second address prints the usage", async (t) => {
  const DATA_DIR = await createTestFolder(t);
  for (const parameters of [[], ["ada@example.com", "eve@example.com"]]) {
    t.deepEqual(await reset({ DATA_DIR }, ...parameters), {
      exitCode: 1,
      stdout: "",
      stderr: "The command takes exactly one email address. Use: npm run people:reset -- ada@example.com\n",
    });
  }
});

test("an empty database stays empty", async (t) => {
  t.deepEqual(await reset({ DATA_DIR: await createTestFolder(t) }, "ada@example.com"), {
    exitCode: 1,
    stdout: "",
    stderr: "The database schema is older than this release. Run: npm run migrate\n",
  });
});
