import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { freePort } from "./helpers/free-port.ts";
import { startGatewayProcess } from "./helpers/gateway-process.ts";
import { listen } from "./helpers/listen.ts";
import { runInProcess } from "./helpers/run-in-process.ts";
import { createServerDatabase, serverKind } from "./helpers/test-database.ts";
import { createTestFolder } from "./helpers/test-folder.ts";
import { patience } from "./helpers/test-gateway.ts";

type Environment = Record<string, string>;
type Outcome = { exitCode: number | null; stdout: string; stderr: string };

/** The start or command must end with an error. Returns the message. */
async function fails(
  t: ExecutionContext,
  environment: Environment,
  run: (environment: Environment, t: ExecutionContext) => Promise<Outcome> = start,
) {
  const DATA_DIR = await createTestFolder(t);
  const { exitCode, stdout, stderr } = await run({ DATA_DIR, PORT: "0", ...environment }, t);
  t.is(exitCode, 1);
  t.is(stdout, "");
  t.false(/^ {4}at /m.test(stderr), `no stack: ${stderr}`);
  return stderr;
}

async function runProcess(environment: Environment, t: ExecutionContext): Promise<Outcome> {
  const { exited, stdout, stderr } = startGatewayProcess(t, { ...patience, ...environment });
  return { exitCode: await exited, stdout: stdout(), stderr: stderr() };
}

const start = (environment: Environment) => runInProcess(environment);
const migrate = (environment: Environment) => runInProcess(environment, "migrate");
const mistype = (environment: Environment) => runInProcess(environment, "migrat");

test("an invalid configuration stops the start, listing all problems without secrets", async (t) => {
  const said = await fails(t, { PORT: "eighty", JWT_SECRET: "hidden-word", LOG_LEVEL: "loud" }, runProcess);
  t.regex(said, /3 problems:\n {2}\S+: /);
  for (const name of ["PORT", "JWT_SECRET", "LOG_LEVEL"]) t.true(said.includes(`  ${name}: `));
  t.false(said.includes("hidden-word"));
});

test("a port in use stops the start with its number and the remedy", async (t) => {
  const port = String(await listen(t, createServer()));
  const said = (variable: string) =>
    `Port ${port} on 127.0.0.1 is already in use. Set ${variable} to another port, or to 0 for any free port.\n`;
  t.is(await fails(t, { PORT: port }), said("PORT"));
  t.is(await fails(t, { METRICS_PORT: port }), said("METRICS_PORT"));
  // The port is checked before the database.
  const DATABASE_URL = `mysql://root@127.0.0.1:${await freePort()}/gateway`;
  t.is(await fails(t, { PORT: port, WORKERS: "2", DATABASE_URL }, runProcess), said("PORT"));
});

test("a foreign host address stops the start with a clear message", async (t) => {
  const said =
    "The host 192.0.2.1 is not an address of this machine. Set HOST to an address such as 127.0.0.1 or 0.0.0.0.\n";
  t.is(await fails(t, { HOST: "192.0.2.1" }), said);
});

test("an unreachable database stops the start without showing the password", async (t) => {
  const DATABASE_URL = `mysql://root:hidden-word@127.0.0.1:${await freePort()}/gateway`;
  for (const run of [runProcess, migrate]) {
    const said = await fails(t, { DATABASE_URL }, run);
    t.regex(said, /database is unavailable.*Check DATABASE_URL/);
    t.false(said.includes("hidden-word"));
  }
});

test("a rejected database password stops the start without showing it", async (t) => {
  if (!serverKind) return t.pass("only `npm test` provides one");
  const DATABASE_URL = Object.assign(new URL(await createServerDatabase(t)), {
    username: "nobody",
    password: "hidden-word",
    pathname: "gateway",
  }).href;
  const said = await fails(t, { DATABASE_URL });
  t.regex(said, /^The database is unavailable \(ER_ACCESS_DENIED_ERROR: .*Check DATABASE_URL/);
  return t.false(said.includes("hidden-word"));
});

test("a file that is not a database stops the start with a clear message", async (t) => {
  const said = await fails(t, { DATABASE_URL: `sqlite:${import.meta.filename}` });
  t.regex(said, /database/i);
});

test("a broken key file stops the start and is named", async (t) => {
  const folder = await createTestFolder(t);
  await writeFile(path.join(folder, "master.key"), "broken");
  const said = await fails(t, { DATA_DIR: folder });
  t.regex(said, /master\.key does not contain 32 bytes/);
});

test("an unknown command is reported", async (t) => {
  t.regex(
    await fails(t, {}, mistype),
    /^Unknown command: migrat\. Use one of migrate, migrate --check, credentials:rewrap, usage:recompute, people:reset/,
  );
});
