import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import path from "node:path";
import test from "ava";
import { databaseUsersContainer } from "../../infra/containers.ts";

const container = databaseUsersContainer({
  image: "gateway",
  region: "eu-central-1",
  logGroup: "/gateway",
  environment: { DATABASE_HOST: "127.0.0.1" },
  secrets: { OWNER_PASSWORD: "arn:aws:secretsmanager:x:password::" },
});
const environment = Object.fromEntries(container.environment.map(({ name, value }) => [name, value]));

test("Node runs the program from its command line with the container's variables", async (t) => {
  // The address is closed, so a connection error proves that all input was parsed.
  const { exitCode, said } = await run({ ...environment, DATABASE_HOST: "127.255.255.254" });
  t.is(exitCode, 1);
  t.regex(said, /ECONNREFUSED|ENETUNREACH|EADDRNOTAVAIL/);
});

test("invalid names never become part of a statement", async (t) => {
  for (const name of ["APP_USER", "MIGRATE_USER", "DATABASE_NAME"]) {
    const { exitCode, said } = await run({ ...environment, [name]: "x'; DROP USER 'y" });
    t.is(exitCode, 1);
    t.regex(said, new RegExp(`${name} is "x'; DROP USER 'y"\\. Use only letters`));
  }
});

async function run(env: Record<string, string>): Promise<{ exitCode: number | null; said: string }> {
  const [, ...parameters] = container.command;
  const cwd = path.join(import.meta.dirname, "../..");
  const child = spawn(process.execPath, parameters, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { said: await text(child.stderr), exitCode: await closed };
}
