import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import BetterSqlite from "better-sqlite3";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

const administrator = { ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "correct horse battery" };

test("DATA_DIR and its files become private even if they exist with other modes", async (t) => {
  const DATA_DIR = path.join(await createTestFolder(t), "data");
  mkdirSync(DATA_DIR);
  for (const name of ["gateway.db", "gateway.db-wal", "gateway.db-shm"]) {
    writeFileSync(path.join(DATA_DIR, name), "");
    chmodSync(path.join(DATA_DIR, name), 0o644);
  }
  chmodSync(DATA_DIR, 0o755);
  const gateway = startGatewayProcess(t, { PORT: "0", DATA_DIR, ...administrator });
  await gateway.listening();
  t.is(statSync(DATA_DIR).mode & 0o777, 0o700);
  const entries = readdirSync(DATA_DIR, { recursive: true, withFileTypes: true });
  const names = entries.map(({ name }) => name);
  for (const name of ["gateway.db", "gateway.db-wal", "jwt.key", "master.key"]) t.true(names.includes(name));
  for (const entry of entries) {
    const { mode } = statSync(path.join(entry.parentPath, entry.name));
    t.is(mode & 0o077, 0, `${entry.name} has mode ${(mode & 0o777).toString(8)}`);
  }
});

test("production neither creates nor prints a first API key", async (t) => {
  const DATA_DIR = await createTestFolder(t);
  const gateway = startGatewayProcess(t, { PORT: "0", DATA_DIR, NODE_ENV: "production", ...administrator });
  await gateway.listening();
  gateway.child.kill("SIGTERM");
  t.is(await gateway.exited, 0, gateway.stderr());
  t.false((gateway.stdout() + gateway.stderr()).includes("sk-gateway-"));
  const database = new BetterSqlite(path.join(DATA_DIR, "gateway.db"), { readonly: true });
  t.deepEqual(database.prepare("SELECT count(*) AS keys FROM api_keys").get(), { keys: 0 });
  database.close();
});
