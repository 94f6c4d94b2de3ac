import type { Database } from "../../db/database.ts";
import { AuditLog } from "../audit/audit-log.ts";
import { readAddress, resetCommand } from "../auth/reset-command.ts";
import { ChangeFeed } from "../keys/change-feed.ts";
import { UserService } from "../auth/user-service.ts";
import type { Config } from "../config/config.ts";
import { createDataKeys, openSecretBox } from "../credentials/open-secret-box.ts";
import { rewrap } from "../credentials/rewrap.ts";
import { StartError } from "../errors.ts";
import { formatUrl } from "../http/server-address.ts";
import type { Runtime } from "../runtime.ts";
import { openDatabase } from "../../db/open-database.ts";
import { backUp } from "./back-up.ts";
import { recomputeCommand } from "../usage/history/recompute-costs.ts";

type CommandOptions = { config: Config; runtime: Runtime; print(line: string): void };

/** Returns the exit code. Throws a `StartError` for an unknown command. */
export async function runCommand(parameters: string[], options: CommandOptions): Promise<number> {
  const [name = "", ...rest] = parameters;
  const command = commands[parameters.join(" ")];
  if (command) return command(options);
  if (name === "usage:recompute") return recompute(options, rest);
  if (name === "people:reset") return resetPassword(options, rest);
  if (name === "backup") return backUp(options.config, rest, options.print);
  const known = [...Object.keys(commands), "usage:recompute", "people:reset", "backup"].join(", ");
  throw new StartError(`Unknown command: ${parameters.join(" ")}. Use one of ${known}.`);
}

const commands: Record<string, (options: CommandOptions) => Promise<number>> = {
  migrate,
  "migrate --check": checkMigrations,
  "credentials:rewrap": rewrapCredentials,
};

async function withDatabase(config: Config, use: (database: Database) => Promise<number>): Promise<number> {
  const database = await openDatabase(config);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

function migrate({ config, print }: CommandOptions): Promise<number> {
  return withDatabase(config, async (database) => {
    const ran = await database.migrate();
    print(ran.length > 0 ? `Ran ${ran.join(", ")}.` : "The database schema is up to date.");
    return 0;
  });
}

function checkMigrations({ config, print }: CommandOptions): Promise<number> {
  return withDatabase(config, async (database) => {
    const pending = await database.pendingMigrations();
    const isUpToDate = pending.length === 0;
    print(isUpToDate ? "The database schema is up to date." : `Pending migrations: ${pending.join(", ")}.`);
    return isUpToDate ? 0 : 1;
  });
}

function recompute({ config, print }: CommandOptions, parameters: string[]): Promise<number> {
  return withDatabase(config, async (database) => {
    await recomputeCommand(database, parameters, print);
    return 0;
  });
}

async function resetPassword(
  { config, runtime, print }: CommandOptions,
  parameters: string[],
): Promise<number> {
  const email = readAddress(parameters);
  const { host, port, publicUrl, limits } = config;
  return withDatabase(config, async (database) => {
    await checkSchema(database);
    const audit = new AuditLog({ database, runtime, retentionDays: limits.auditRetentionDays });
    const changeFeed = new ChangeFeed({ database, runtime, pollIntervalMs: limits.changePollIntervalMs });
    const users = new UserService({ database, runtime, audit, changeFeed });
    const consoleUrl = publicUrl ?? formatUrl(host, port);
    await resetCommand({ database, users, consoleUrl }, email, print);
    return 0;
  });
}

async function checkSchema(database: Database): Promise<void> {
  const pending = await database.pendingMigrations();
  if (pending.length > 0)
    throw new StartError("The database schema is older than this release. Run: npm run migrate");
}

async function rewrapCredentials({ config, runtime, print }: CommandOptions): Promise<number> {
  const secretBox = openSecretBox(config, runtime);
  return withDatabase(config, async (database) => {
    await checkSchema(database);
    const dataKeys = createDataKeys(config, { database, runtime, secretBox });
    // One data key that KMS cannot unwrap must not block the secrets under other keys.
    await dataKeys?.load().catch((error: unknown) => {
      if (secretBox.sealingKeyId === null) throw error;
    });
    const { keyId, moved, failed } = await rewrap({ database, secretBox, dataKeys });
    print(`Secrets moved to the key ${keyId}: ${moved}.`);
    if (failed.length > 0)
      print(
        `No available key decrypts these secrets: ${failed.join(", ")}. Add their key to MASTER_KEY_PREVIOUS, or enter the secrets again in the console.`,
      );
    return failed.length > 0 ? 1 : 0;
  });
}
