import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { provideMariadb } from "../helpers/mariadb-programs.ts";
import { findMysql } from "../helpers/mysql-programs.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { allDatabaseKinds, type DatabaseKind } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { startTestServers } from "../helpers/test-servers.ts";

/**
 * `node test/upgrade/write-fixture.ts <folder>` writes one dump per database kind, with a row in each table.
 * Run it on the commit of a release.
 */
async function writeFixtures(folder: string): Promise<void> {
  const teardowns: (() => unknown)[] = [];
  const t = { teardown: (stop: () => unknown) => void teardowns.push(stop) };
  await mkdir(folder, { recursive: true });
  try {
    for (const kind of allDatabaseKinds) await writeFixture(t, folder, kind);
  } finally {
    for (const stop of teardowns.toReversed()) await stop();
  }
}

/** Runs this script in a new process, because the helpers read the servers' variables when they are imported. */
async function withServers(folder: string): Promise<void> {
  const servers = await startTestServers(console.error);
  const script = fileURLToPath(import.meta.url);
  const environment = { ...process.env, ...servers.environment, [isWriter]: "true" };
  const [code] = await once(
    spawn(process.execPath, [script, folder], { env: environment, stdio: "inherit" }),
    "exit",
  );
  await servers.stop();
  process.exitCode = Number(code);
}

const isWriter = "WRITES_FIXTURE";

async function writeFixture(t: Owner, folder: string, kind: DatabaseKind): Promise<void> {
  const gateway = await startTestGateway(t, { kind, environment: { MASTER_KEY: masterKey } });
  const expected = await fill(t, gateway);
  const writtenAt = new Date();
  await gateway.services.recorder.flush();
  const records = await gateway.services.database.read(({ usageRecords }) =>
    usageRecords.listByKey(expected.keyId, 100),
  );
  const url = gateway.environment["DATABASE_URL"] ?? "";
  await gateway.close();
  const dumped = kind === "sqlite" ? dumpSqlite(url.slice("sqlite:".length)) : dumpServer(kind, url);
  await writeFile(path.join(folder, `${kind}.sql`), dumped);
  const facts = { writtenAt, masterKey, ...expected, upstreamSecret, records };
  await writeFile(path.join(folder, `${kind}.json`), `${JSON.stringify(facts, null, 2)}\n`);
}

type Owner = { teardown(stop: () => unknown): void };

/** The key can be public, because the fixture's secrets are fake. */
const masterKey = Buffer.alloc(32, "fixture").toString("base64");

async function fill(t: Owner, gateway: TestGateway) {
  const { admin, services } = gateway;
  const upstream = await createUpstream(t, ({ body }, response) =>
    body.includes("fail") ? void response.writeHead(400).end("{}") : sendCompletion(response),
  );
  const { value, id, model } = await connectUpstream(gateway, upstream);
  const provider = (await admin.providers.list.query()).find(({ name }) => name === "test");
  const priced = await admin.models.create.mutate({
    slug: "test/priced",
    providerId: provider?.id ?? "",
    upstreamModel: "upstream-model",
    prices: { input: 2.5, cachedInput: 1.25, output: 10 },
    fallbacks: [model],
  });
  await admin.keys.setModels.mutate({ id, models: [model, priced.slug, "demo/echo"], revision: 1 });
  const limits = { requestsPerMinute: 1_000, budgetsUsd: { month: 100 } };
  const other = await admin.keys.create.mutate({ name: "Ümläute 🗝", models: ["demo/echo"], limits });
  await admin.keys.rotate.mutate({ id: other.key.id, overlapSeconds: 86_400 });
  const disabled = await admin.keys.create.mutate({ name: "Disabled", models: ["demo/echo"] });
  await admin.keys.deactivate.mutate({ id: disabled.key.id });
  await admin.users.invite.mutate({ name: "Grace", email: "grace@example.com" });
  await admin.limits.set.mutate({ holder: "people", limits: { budgetsUsd: { month: 1_000 } } });
  for (const [slug, content] of [
    [model, "Hello"],
    [priced.slug, "Hello"],
    ["demo/echo", "Hello"],
    [model, "fail"],
  ] as const)
    await postChat(gateway, value, chatBody(slug, content));
  const createdAt = new Date();
  await services.database.write(async (repositories) => {
    await repositories.withheldModels.add(disabled.key.id, ["demo/other"]);
    await repositories.limitUses.put([
      { processId: "p1", subjectId: id, second: Math.floor(Date.now() / 1_000), requests: 1, tokens: 7 },
    ]);
    await repositories.limitEvents.insert({
      id: "a".repeat(64),
      apiKeyId: id,
      apiKeyName: "Test key",
      ownerId: null,
      period: "month",
      periodStartsAt: new Date("2026-11-01T00:00:00Z"),
      percent: 80,
      budget: 1_000_000_000,
      spent: 800_000_000,
      createdAt,
      attempts: 0,
      sendAt: null,
    });
    await repositories.dataKeys.insert({
      id: "dk_fixture",
      number: 1,
      wrapped: Buffer.alloc(64, 7).toString("base64"),
      kmsKeyId: "arn:aws:kms:eu-central-1:111122223333:key/fixture",
      createdAt,
    });
  });
  const inactive = { id: disabled.key.id, value: disabled.value };
  return { keyId: id, keyValue: value, inactive, model, pricedModel: priced.slug };
}

function dumpSqlite(file: string): string {
  const database = new Sqlite(file, { readonly: true });
  const schema = database.prepare<[], { type: string; name: string; sql: string }>(
    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type = 'table' DESC, rowid",
  );
  const lines = ["PRAGMA foreign_keys = OFF;"];
  for (const { type, name, sql } of schema.all()) {
    lines.push(`${sql};`);
    if (type !== "table") continue;
    const columns = database.pragma(`table_info(${name})`) as { name: string }[];
    const values = columns.map((column) => `quote("${column.name}")`).join(" || ', ' || ");
    const rows = database.prepare<[], string>(`SELECT ${values} FROM "${name}"`).pluck().all();
    for (const row of rows) lines.push(`INSERT INTO "${name}" VALUES (${row});`);
  }
  database.close();
  return `${lines.join("\n")}\n`;
}

function dumpServer(kind: Exclude<DatabaseKind, "sqlite">, url: string): string {
  const programs = kind === "mysql" ? findMysql() : provideMariadb(console.log);
  const { hostname, port, username, pathname } = new URL(url);
  const { status, stdout, stderr } = spawnSync(
    programs?.dump ?? "",
    [
      `--host=${hostname}`,
      `--port=${port}`,
      `--user=${username}`,
      ..."--single-transaction --no-tablespaces --skip-comments --skip-add-drop-table --skip-add-locks --skip-disable-keys --skip-extended-insert --default-character-set=utf8mb4".split(
        " ",
      ),
      ...(kind === "mysql" ? ["--set-gtid-purged=OFF"] : []),
      pathname.slice(1),
    ],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const [folder = "test/fixtures/upgrade"] = process.argv.slice(2);
await (process.env[isWriter] === undefined ? withServers(folder) : writeFixtures(folder));
