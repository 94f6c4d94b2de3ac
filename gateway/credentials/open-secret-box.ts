import { resolve, dirname } from "node:path";
import type { Database } from "../../db/database.ts";
import type { Config } from "../config/config.ts";
import type { Runtime } from "../runtime.ts";
import { DataKeys } from "./data-keys.ts";
import { Kms } from "./kms.ts";
import { SecretBox } from "./secret-box.ts";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readKey } from "../config/config-values.ts";
import { StartError } from "../errors.ts";

/**
 * With KMS, the box cannot seal until the data keys are loaded. An existing key file still opens old secrets,
 * so that `rewrap` can move the secrets to another key.
 */
export function openSecretBox(config: Config, runtime: Runtime): SecretBox {
  const { masterKey, previousMasterKeys, kms, dataDir } = config;
  const path = resolve(dataDir, "master.key");
  const isFileUsed = masterKey === null && kms === null;
  const secretBox = new SecretBox(isFileUsed ? readOrCreateKeyFile(path, runtime) : masterKey, runtime);
  const fileKey = isFileUsed ? null : readKeyFile(path);
  for (const key of [...previousMasterKeys, ...(fileKey ? [fileKey] : [])]) secretBox.openWith(key);
  return secretBox;
}

/** Returns null if KMS is not configured. */
export function createDataKeys(
  { kms: options, limits }: Config,
  parts: { database: Database; runtime: Runtime; secretBox: SecretBox },
): DataKeys | null {
  return options && new DataKeys({ ...parts, kms: new Kms({ ...options, timeoutMs: limits.kmsTimeoutMs }) });
}

/**
 * Creates a missing file, which only its owner can read. Concurrent calls return the same key.
 * Throws a `StartError` if the file contains no valid key.
 */
export function readOrCreateKeyFile(path: string, { randomBytes }: Pick<Runtime, "randomBytes">): Buffer {
  const existing = readKeyFile(path);
  if (existing) return existing;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Linking a complete draft keeps other processes from reading half a key, and lets the first writer win.
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(draft, `${randomBytes(keyBytes).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
  const key = readKeyFile(path);
  if (!key)
    throw new Error(
      `The key file ${path} disappeared while the gateway created it. Start the gateway again.`,
    );
  return key;
}

const keyBytes = 32;

/** Returns null if the file is missing. Throws a `StartError` if it contains no valid key. */
function readKeyFile(path: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const key = readKey(text.trim());
  if (key) return key;
  throw new StartError(
    `The key file ${path} does not contain 32 bytes in base64. Restore it from a backup, because the gateway needs it to decrypt stored secrets.`,
  );
}
