import { resolve } from "node:path";
import type { Database } from "../../db/database.ts";
import type { Config } from "../config/config.ts";
import type { Runtime } from "../runtime.ts";
import { DataKeys } from "./data-keys.ts";
import { readKeyFile, readOrCreateKeyFile } from "./key-file.ts";
import { Kms } from "./kms.ts";
import { SecretBox } from "./secret-box.ts";

/**
 * The secret box with every key of the configuration and the data folder. KMS keeps it locked until the data
 * keys are loaded. A key file still opens its secrets, so that they can be moved.
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

/** Returns null without a KMS key. */
export function createDataKeys(
  { kms: options, limits }: Config,
  parts: { database: Database; runtime: Runtime; secretBox: SecretBox },
): DataKeys | null {
  return options && new DataKeys({ ...parts, kms: new Kms({ ...options, timeoutMs: limits.kmsTimeoutMs }) });
}
