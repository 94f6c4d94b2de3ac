import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import Sqlite from "better-sqlite3";
import test, { type ExecutionContext } from "ava";
import { hangMs } from "../helpers/eventually.ts";
import { openDataSource } from "../../db/data-source.ts";
import { Database } from "../../db/database.ts";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { readTables } from "../helpers/query-database.ts";
import { runInProcess } from "../helpers/run-in-process.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import {
  allDatabaseKinds,
  createTestDatabase,
  type DatabaseKind,
  execute,
} from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { administrator, createConsoleClient, startTestGateway } from "../helpers/test-gateway.ts";

// Each folder contains a release's database from write-fixture.ts.
const root = path.join(import.meta.dirname, "../fixtures/upgrade");
const releases = globSync("*", { cwd: root }).toSorted();

type Fixture = {
  writtenAt: string;
  masterKey: string;
  keyId: string;
  keyValue: string;
  inactive: { id: string; value: string };
  model: string;
  upstreamSecret: string;
  records: UsageRecordRow[];
};

async function load(t: ExecutionContext, release: string, kind: DatabaseKind) {
  const read = (name: string) => readFileSync(path.join(root, release, name), "utf8");
  const facts = JSON.parse(read(`${kind}.json`)) as Fixture;
  const url = await createTestDatabase(t, kind);
  const sql = read(`${kind}.sql`);
  if (kind === "sqlite") {
    const database = new Sqlite(url.slice("sqlite:".length));
    database.exec(sql);
    database.close();
    return { url, facts };
  }
  await execute(url, sql);
  return { url, facts };
}

async function migrate(url: string): Promise<string[]> {
  const limits = { connectionsMax: 2, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };
  const database = await Database.open(url, limits);
  try {
    return await database.migrate();
  } finally {
    await database.close();
  }
}

for (const release of releases) {
  for (const kind of allDatabaseKinds) {
    test(`${kind}: the database of ${release} keeps every value of every row`, async (t) => {
      const { url } = await load(t, release, kind);
      const before = await readTables(url);
      for (const [name, rows] of before) t.true(rows.length > 0, `${name} has rows in the fixture`);
      await migrate(url);
      t.deepEqual(await migrate(url), [], "a second run has nothing to do");
      const after = await readTables(url);
      for (const [name, rows] of before) {
        const columns = Object.keys(rows[0] ?? {});
        const format = (row: Record<string, unknown>) => JSON.stringify(columns.map((column) => row[column]));
        const kept = (after.get(name) ?? []).map(format);
        t.deepEqual(
          rows.map(format).filter((row) => !kept.includes(row)),
          [],
          name,
        );
        if (name !== "migrations") t.is(kept.length, rows.length, name);
      }
      t.true((await assertRollUpsMatch(url)) > 0);
    });

    test(`${kind}: keys, credentials, people and history of ${release} work after an upgrade`, async (t) => {
      const { url, facts } = await load(t, release, kind);
      const upstream = await createUpstream(t, ({ headers }, response) => {
        if (headers.authorization === `Bearer ${facts.upstreamSecret}`) return sendCompletion(response);
        response.writeHead(401).end("{}");
      });
      // With the current time, retention would eventually delete the fixture's records.
      const offsetMs = Date.parse(facts.writtenAt) - Date.now();
      const gateway = await startTestGateway(t, {
        kind,
        environment: { DATABASE_URL: url, MASTER_KEY: facts.masterKey },
        runtime: { now: () => Date.now() + offsetMs },
      });
      const { database } = gateway.services;
      const records = await database.read(({ usageRecords }) => usageRecords.listByKey(facts.keyId, 100));
      t.is(records.length, facts.records.length);
      for (const [index, expected] of facts.records.entries()) {
        t.like(records[index], { ...expected, createdAt: new Date(expected.createdAt) });
      }
      const { data } = await askHistory<{ usageSummary: { costUsd: string; requests: number }[] }>(
        gateway,
        gateway.accessToken,
        "{ usageSummary(groupBy: [API_KEY]) { costUsd requests } }",
      );
      const cost = facts.records.reduce((sum, record) => sum + (record.cost ?? 0), 0);
      t.deepEqual(data?.usageSummary, [{ costUsd: String(cost / 1e9), requests: facts.records.length }]);

      const { auth } = createConsoleClient(gateway.url);
      const { email, password } = administrator;
      t.truthy((await auth.signIn.mutate({ email, password })).accessToken);
      const { name, ...provider } = await providerOf(gateway);
      t.is(name, "test");
      await gateway.admin.providers.update.mutate({ ...provider, baseUrl: `${upstream.url}/v1` });
      t.is((await postChat(gateway, facts.keyValue, chatBody(facts.model))).status, 200);
      t.is((await postChat(gateway, facts.inactive.value, chatBody(facts.model))).status, 401);
    });
  }
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: a database from before the first release stops the start with one sentence`, async (t) => {
    const url = await createTestDatabase(t, kind);
    await migrate(url);
    const dataSource = await openDataSource(url, { connectionsMax: 1, connectTimeoutMs: hangMs });
    await dataSource.query("UPDATE migrations SET name = 'InitialSchema1763683200000'");
    await dataSource.destroy();
    const before = await readTables(url);
    const environment = { DATA_DIR: await createTestFolder(t), DATABASE_URL: url };

    for (const parameters of [[], ["migrate"], ["migrate", "--check"]]) {
      t.deepEqual(await runInProcess(environment, ...parameters), {
        exitCode: 1,
        stdout: "",
        stderr:
          "The database was created before version 0.1.0 and cannot be upgraded: set DATABASE_URL to a new, empty database, or move the SQLite file away, and start again.\n",
      });
    }
    t.deepEqual(await readTables(url), before);
  });
}

async function providerOf({ admin }: Pick<Awaited<ReturnType<typeof startTestGateway>>, "admin">) {
  const found = (await admin.providers.list.query()).find(({ kind }) => kind === "openai-compatible");
  if (!found) throw new Error("The fixture has no provider.");
  return { id: found.id, revision: found.revision, name: found.name };
}
