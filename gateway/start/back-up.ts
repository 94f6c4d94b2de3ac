import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { copySqlite } from "../../db/copy-sqlite.ts";
import { openDatabase } from "../../db/open-database.ts";
import type { Config } from "../config/config.ts";
import { StartError } from "../errors.ts";
import { decodeRecords } from "../usage/recording/shipper.ts";
import { segmentSuffix, type UsageRecord } from "../usage/recording/spool.ts";

/**
 * Copies the SQLite database and the usage records in the spool, even while gateways run. Returns the exit
 * code. Throws a `StartError` for invalid parameters, for MySQL, and if the backup file exists.
 */
export async function backUp(
  config: Config,
  parameters: string[],
  print: (line: string) => void,
): Promise<number> {
  const file = readFileName(parameters);
  const source = readSource(config.databaseUrl);
  // The spool is read first, so a record that then leaves the spool for the database is in the copy.
  const spooled = await readSpool(path.join(config.dataDir, "spool"));
  let added = "";
  try {
    await copySqlite(source, file, async (copy) => {
      added = await addRecords({ ...config, databaseUrl: `sqlite:${copy}` }, spooled);
    });
  } catch (error) {
    throw explain(error, file);
  }
  const { size } = await stat(file);
  print(`Backup written to ${file} (${size} bytes). ${added}`);
  print(
    "The backup does not contain the encryption key. Store MASTER_KEY, master.key in DATA_DIR, or the KMS key in a separate place.",
  );
  return 0;
}

function readFileName(parameters: string[]): string {
  const [file, ...more] = parameters;
  if (file !== undefined && file !== "" && !file.startsWith("-") && more.length === 0) {
    return path.resolve(file);
  }
  throw new StartError(
    "The backup command requires exactly one new file. Use: npm run backup -- /backups/gateway.db",
  );
}

function readSource(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return databaseUrl.slice("sqlite:".length);
  throw new StartError(
    "The backup command copies only SQLite. Back up MySQL with mysqldump --single-transaction, as infra/README.md explains.",
  );
}

/** Reads the records of all processes, including dead ones. */
async function readSpool(root: string): Promise<UsageRecord[]> {
  const names = await readdir(root, { recursive: true }).catch(emptyIfMissing);
  const records: UsageRecord[] = [];
  for (const name of names.filter((each) => each.endsWith(segmentSuffix))) {
    // A gateway may have removed the file after it stored the records in the database.
    const bytes = await readFile(path.join(root, name)).catch(emptyIfMissing);
    if (!Array.isArray(bytes)) records.push(...decodeRecords(bytes).records);
  }
  return records;
}

function emptyIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}

/** Adds the records that the copy lacks. Returns a sentence for the operator. */
async function addRecords(config: Config, spooled: UsageRecord[]): Promise<string> {
  const copy = await openDatabase(config);
  try {
    if ((await copy.pendingMigrations()).length > 0) {
      return `Its schema is older than this release, so it lacks up to ${spooled.length} usage records of the spool.`;
    }
    const batchRecordsMax = config.limits.usageBatchRecordsMax;
    for (let from = 0; from < spooled.length; from += batchRecordsMax) {
      const batch = spooled.slice(from, from + batchRecordsMax);
      await copy.write(({ usageRecords }) => usageRecords.insertAll(batch));
    }
    return "It includes the usage records of the spool.";
  } finally {
    await copy.close();
  }
}

function explain(error: unknown, file: string): unknown {
  const { code, path: named } = error as NodeJS.ErrnoException;
  if (code === "EEXIST" && named === file) {
    return new StartError(`The file ${file} already exists. Choose a new name.`);
  }
  if (code === "EEXIST") {
    return new StartError(
      `Another backup is writing to ${named}, or was interrupted. If no backup is running, delete ${named}.`,
    );
  }
  if (code === "ENOENT") {
    return new StartError(
      `The file or folder ${named} does not exist. Check DATA_DIR, DATABASE_URL and the path.`,
    );
  }
  return error;
}
