import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, copyFile, type FileHandle, mkdir, open, readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { assertRollUpsMatch } from "./helpers/assert-roll-ups-match.ts";
import { askHistory } from "./helpers/ask-history.ts";
import { connectUpstream, upstreamSecret } from "./helpers/connect-upstream.ts";
import { startGatewayProcess } from "./helpers/gateway-process.ts";
import { ownServers } from "./helpers/own-server.ts";
import { chatBody, postChat } from "./helpers/post-chat.ts";
import { runInProcess } from "./helpers/run-in-process.ts";
import { createUpstream, sendCompletion } from "./helpers/scripted-upstream.ts";
import { createServerDatabase } from "./helpers/test-database.ts";
import { createTestFolder } from "./helpers/test-folder.ts";
import { patience, startTestGateway, type TestGateway } from "./helpers/test-gateway.ts";

const backUp = (environment: Record<string, string>, ...parameters: string[]) =>
  runInProcess(environment, "backup", ...parameters);

/** Starts a gateway whose upstream accepts only the stored credential, and creates a key. */
async function startBusy(t: ExecutionContext, options: Parameters<typeof startTestGateway>[1] = {}) {
  const gateway = await startTestGateway(t, options);
  const upstream = await createUpstream(t, ({ headers }, response) => {
    if (headers.authorization === `Bearer ${upstreamSecret}`) return sendCompletion(response);
    response.writeHead(401).end("{}");
  });
  const key = await connectUpstream(gateway, upstream);
  const send = async (to: Pick<TestGateway, "url"> = gateway) => {
    const { status, headers } = await postChat(to, key.value, chatBody(key.model));
    t.is(status, 200);
    return headers.get("x-request-id") ?? "";
  };
  const { DATA_DIR = "", DATABASE_URL = "" } = gateway.environment;
  return { gateway, send, DATA_DIR, DATABASE_URL };
}

/** Sends requests from four clients until an operation ends. Returns the request IDs. */
async function writeUntil(operation: Promise<unknown>, send: () => Promise<string>): Promise<string[]> {
  const ids: string[] = [];
  let isOver = false;
  void operation.finally(() => (isOver = true));
  const client = async () => {
    while (!isOver) {
      ids.push(await send());
      await wait(5);
    }
  };
  await Promise.all([client(), client(), client(), client()]);
  return ids;
}

/** Copies the key files to an empty folder. The returned `start` uses this folder and the restored database. */
async function restore(t: ExecutionContext, dataDir: string, databaseUrl?: string) {
  const DATA_DIR = await createTestFolder(t);
  for (const name of ["master.key", "jwt.key"]) {
    await copyFile(path.join(dataDir, name), path.join(DATA_DIR, name));
  }
  const start = (backup?: string) =>
    startTestGateway(t, {
      environment: { DATA_DIR, DATABASE_URL: databaseUrl ?? `sqlite:${backup}` },
    });
  return { DATA_DIR, start };
}

async function requestIds(gateway: TestGateway): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const page: { data: UsagePage | undefined } = await askHistory<UsagePage>(
      gateway,
      gateway.accessToken,
      "query ($after: String) { usageRecords(first: 100, after: $after) { edges { node { id } } pageInfo { endCursor hasNextPage } } }",
      { variables: { after } },
    );
    const records = page.data?.usageRecords;
    if (!records) throw new Error("The history did not respond.");
    ids.push(...records.edges.map(({ node }) => node.id));
    if (!records.pageInfo.hasNextPage) return ids;
    after = records.pageInfo.endCursor;
  }
}

type UsagePage = {
  usageRecords: {
    edges: { node: { id: string } }[];
    pageInfo: { endCursor: string; hasNextPage: boolean };
  };
};

for (const [title, USAGE_FLUSH_INTERVAL_MS] of [
  ["a backup during writes has every earlier request", "20"],
  ["a backup has the records that wait in the spool", "3600000"],
] as const) {
  test(`${title}, and a restored gateway works`, async (t) => {
    const { gateway, send, DATA_DIR, DATABASE_URL } = await startBusy(t, {
      environment: { USAGE_FLUSH_INTERVAL_MS },
    });
    const earlier = await Promise.all(Array.from({ length: 40 }, () => send()));
    const file = path.join(await createTestFolder(t), "backup.db");
    const backup = startGatewayProcess(t, { ...patience, DATA_DIR, DATABASE_URL }, "backup", file);
    const during = await writeUntil(backup.exited, send);
    t.is(await backup.exited, 0, backup.stderr());
    const output = backup.stdout();
    t.true(output.startsWith(`Backup written to ${file} (`), output);
    t.true(output.includes("It includes the usage records of the spool."), output);
    t.is(((await stat(file)).mode & 0o777).toString(8), "600");
    t.deepEqual(await readdir(path.dirname(file)), ["backup.db"]);
    await gateway.close();

    const { start } = await restore(t, DATA_DIR);
    const restored = await start(file);
    const ids = await requestIds(restored);
    const known = new Set(ids);
    t.deepEqual(
      earlier.filter((id) => !known.has(id)),
      [],
      "each earlier request is there",
    );
    const all = new Set([...earlier, ...during]);
    t.deepEqual(
      ids.filter((id) => !all.has(id)),
      [],
      "and nothing else",
    );
    t.is(ids.length, known.size);
    t.is(await assertRollUpsMatch(`sqlite:${file}`), ids.length);
    await send(restored);
  });
}

test("a backup refuses an existing file and another backup, and changes neither", async (t) => {
  const { DATA_DIR, DATABASE_URL } = await startBusy(t);
  const folder = await createTestFolder(t);
  const file = path.join(folder, "backup.db");
  await writeFile(file, "precious");
  const refused = await backUp({ DATA_DIR, DATABASE_URL }, file);
  t.is(refused.exitCode, 1);
  t.is(refused.stderr, `The file ${file} already exists. Choose a new name.\n`);
  t.is((await stat(file)).size, "precious".length);
  const other = path.join(folder, "other.db");
  await writeFile(`${other}.unfinished`, "in progress");
  const second = await backUp({ DATA_DIR, DATABASE_URL }, other);
  t.is(second.exitCode, 1);
  t.is(
    second.stderr,
    `Another backup is writing to ${other}.unfinished, or was interrupted. If no backup is running, delete ${other}.unfinished.\n`,
  );
  t.deepEqual((await readdir(folder)).toSorted(), ["backup.db", "other.db.unfinished"]);
});

test("a backup without a database or a folder fails and creates nothing", async (t) => {
  const folder = await createTestFolder(t);
  const file = path.join(folder, "backup.db");
  const DATA_DIR = path.join(folder, "data");
  const without = await backUp({ DATA_DIR }, file);
  t.is(without.exitCode, 1);
  t.true(
    without.stderr.startsWith(`The file or folder ${DATA_DIR}/gateway.db does not exist. Check DATA_DIR`),
  );
  const missing = await backUp({ DATA_DIR }, path.join(folder, "none", "backup.db"));
  t.is(missing.exitCode, 1);
  t.regex(missing.stderr, /^The file or folder .*none\/backup\.db/);
  t.deepEqual(await readdir(folder), []);
});

test("a failed backup leaves no file", async (t) => {
  const folder = await createTestFolder(t);
  const DATA_DIR = path.join(folder, "data");
  await mkdir(DATA_DIR);
  await writeFile(path.join(DATA_DIR, "gateway.db"), "no database ".repeat(1_000));
  await chmod(path.join(DATA_DIR, "gateway.db"), 0o600);
  const { exitCode, stderr } = await backUp({ DATA_DIR }, path.join(folder, "backup.db"));
  t.is(exitCode, 1);
  t.regex(stderr, /^The database file is unusable: /);
  t.deepEqual(await readdir(folder), ["data"]);
});

test("a backup with wrong parameters or of MySQL prints the remedy", async (t) => {
  const DATA_DIR = await createTestFolder(t);
  const remedy =
    "The backup command requires exactly one new file. Use: npm run backup -- /backups/gateway.db\n";
  for (const parameters of [["one.db", "two.db"], [], ["--help"], [""]]) {
    t.deepEqual(await backUp({ DATA_DIR }, ...parameters), { exitCode: 1, stdout: "", stderr: remedy });
  }
  const DATABASE_URL = "mysql://gateway@db.example.com/gateway";
  t.regex(
    (await backUp({ DATA_DIR, DATABASE_URL }, "backup.db")).stderr,
    /^The backup command copies only SQLite\. Back up MySQL with mysqldump --single-transaction/,
  );
});

const manual = readFileSync(new URL("../infra/README.md", import.meta.url), "utf8");
/** The `mysqldump` options in infra/README.md, without the connection options. */
const dumpOptions = /^mysqldump ((?:--[a-z-]+ )+)/m.exec(manual)?.[1]?.trim().split(" ") ?? [];

for (const { kind, programs } of ownServers) {
  test(`${kind}: the documented dump during writes restores a working gateway`, async (t) => {
    const { client, dump } = programs;
    if (!client || !dump) return t.pass("The machine has the server without its clients.");
    const { gateway, send, DATA_DIR, DATABASE_URL } = await startBusy(t, { kind });
    const earlier = await Promise.all(Array.from({ length: 40 }, () => send()));
    await gateway.services.recorder.flush();
    const file = path.join(await createTestFolder(t), "backup.sql");
    const run = (program: string, url: string, input: FileHandle | null, ...options: string[]) => {
      const { hostname, port, username, pathname } = new URL(url);
      const parameters = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`, ...options];
      const stdio = [input?.fd ?? "ignore", "ignore", "inherit"] as const;
      return once(spawn(program, [...parameters, pathname.slice(1)], { stdio: [...stdio] }), "exit");
    };
    const dumped = run(dump, DATABASE_URL, null, ...dumpOptions, `--result-file=${file}`);
    await writeUntil(dumped, send);
    t.deepEqual(await dumped, [0, null]);
    await gateway.close();

    const target = await createServerDatabase(t, kind);
    const backup = await open(file);
    t.deepEqual(await run(client, target, backup), [0, null]);
    await backup.close();
    const { start } = await restore(t, DATA_DIR, target);
    const restored = await start();
    const known = new Set(await requestIds(restored));
    t.deepEqual(
      earlier.filter((id) => !known.has(id)),
      [],
    );
    t.is(await assertRollUpsMatch(target), known.size);
    await send(restored);
  });
}
