import path from "node:path";
import type { ExecutionContext } from "ava";
import { lockFile } from "../../db/file-lock.ts";
import { readConfig } from "../../gateway/config/config.ts";
import type { Settings } from "../../gateway/config/variables.ts";
import { createLog } from "../../gateway/log.ts";
import { UsageRecorder } from "../../gateway/usage/recording/usage-recorder.ts";
import type { openTestDatabase } from "./open-test-database.ts";
import { createTestFolder } from "./test-folder.ts";

type Database = Awaited<ReturnType<typeof openTestDatabase>>;

const defaults = readConfig({}).limits;

let names = 0;

/** Opens a recorder without a gateway. By default, no timer flushes the recorder during a test. */
export async function openRecorder(
  t: ExecutionContext,
  database: Database,
  more: { dataDir?: string; limits?: Partial<Settings>; isSynced?: boolean } = {},
) {
  const dataDir = more.dataDir ?? (await createTestFolder(t));
  const log: string[] = [];
  const recorder = new UsageRecorder({
    database,
    lockFile,
    dataDir,
    log: createLog("debug", { write: (line) => log.push(line) }),
    createName: () => `process_${++names}`,
    isSynced: more.isSynced ?? false,
    limits: { ...defaults, usageFlushIntervalMs: 1_000_000, usageAdoptIntervalMs: 1_000_000, ...more.limits },
  });
  t.teardown(() => recorder.close());
  return { recorder, dataDir, log, spool: path.join(dataDir, "spool") };
}

export const idsIn = async (database: Database) =>
  (await database.read(({ usageRecords }) => usageRecords.listByKey("key_1", 10_000)))
    .map(({ id }) => id)
    .toSorted();
