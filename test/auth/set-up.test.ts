import test, { type ExecutionContext } from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { callProcedure } from "../helpers/call-procedure.ts";
import { createTestDatabase, databaseKinds } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

/** Starts a gateway before its setup. */
async function startNew(t: ExecutionContext, environment: Record<string, string>) {
  const log: string[] = [];
  const runtime = systemRuntime(createLog("info", { write: (line) => log.push(line) }));
  const gateway = await startGateway(
    readConfig({ PORT: "0", DATABASE_TIMEOUT_MS: "20000", ...environment }),
    runtime,
  );
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
      DATABASE_URL: await createTestDatabase(t, kind),
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
      DATABASE_URL: await createTestDatabase(t, kind),
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
    const DATABASE_URL = await createTestDatabase(t, kind);
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

test("every start before the setup accepts the same token", async (t) => {
  const environment = { DATA_DIR: await createTestFolder(t) };
  const first = await startNew(t, environment);
  await first.close();
  const second = await startNew(t, environment);
  t.is(second.token, first.token);
  t.is((await second.setUp(first.token)).status, 200);
});
