import type { Database } from "../../db/database.ts";
import type { DataKeyRow } from "../../db/entities/data-key.ts";
import type { Runtime } from "../runtime.ts";
import { type Kms, KmsError } from "./kms.ts";
import { keyIdOf, type SecretBox, sealingKeyIdOf } from "./secret-box.ts";
import type { Log } from "../log.ts";

type DataKeysOptions = { database: Database; runtime: Runtime; secretBox: SecretBox; kms: Kms };

/** All processes share the data keys, which the database stores wrapped by KMS. */
export class DataKeys {
  readonly #options: DataKeysOptions;

  constructor(options: DataKeysOptions) {
    this.#options = options;
  }

  /** Loads the newest key and those of stored credentials, or creates the first. Tries all keys before it throws. */
  async load(): Promise<void> {
    const { database, secretBox } = this.#options;
    const { rows, credentials } = await database.read(async ({ dataKeys, providers }) => ({
      rows: await dataKeys.list(),
      credentials: await providers.listCredentials(),
    }));
    const [newest, ...older] = rows;
    if (!newest) return this.#create((existing) => existing.length === 0);
    const failures: unknown[] = [];
    const unwrap = (row: DataKeyRow, use: (key: Buffer) => void) =>
      this.#unwrap(row).then(use, (error: unknown) => void failures.push(error));
    if (secretBox.sealingKeyId !== newest.id) await unwrap(newest, (key) => secretBox.sealWith(key));
    const needed = new Set(credentials.map(({ sealed }) => sealingKeyIdOf(sealed)));
    for (const row of older.filter(({ id }) => needed.has(id) && !secretBox.has(id)))
      await unwrap(row, (key) => secretBox.openWith(key));
    if (failures.length > 0) throw failures[0];
  }

  /** Creates a data key and seals with it. Other processes use the key after their next load. */
  create(): Promise<void> {
    return this.#create(() => true);
  }

  /** If several processes start together, only one stores the first key. The other processes load that key. */
  async #create(isWanted: (existing: DataKeyRow[]) => boolean): Promise<void> {
    const { database, runtime, secretBox, kms } = this.#options;
    const { key, wrapped, kmsKeyId } = await kms.generateDataKey();
    const id = keyIdOf(key);
    const createdAt = new Date(runtime.now());
    const isKept = await database.write(async ({ dataKeys, changes }) => {
      await changes.lock();
      const existing = await dataKeys.list();
      if (!isWanted(existing)) return false;
      const number = (existing[0]?.number ?? 0) + 1;
      await dataKeys.insert({ id, number, wrapped, kmsKeyId, createdAt });
      await changes.append("data_key", id, createdAt);
      return true;
    });
    if (!isKept) return this.load();
    secretBox.sealWith(key);
    runtime.log.info({ dataKeyId: id }, "created a data key");
  }

  async #unwrap(row: DataKeyRow): Promise<Buffer> {
    const key = await this.#options.kms.unwrap(row);
    if (keyIdOf(key) !== row.id) throw new KmsError("KMS returned a different data key. Check KMS_KEY_ID");
    return key;
  }
}

type DataKeyLoaderOptions = {
  dataKeys: Pick<DataKeys, "load">;
  secretBox: SecretBox;
  log: Log;
  /** Runs after new keys are loaded, because they may open secrets that could not be opened before. */
  keysCame(): Promise<void>;
  retryIntervalMsMax: number;
};

/** Retries until KMS has unwrapped all needed keys. Sealing and opening then work without KMS. */
export class DataKeyLoader {
  readonly #options: DataKeyLoaderOptions;
  #loading: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #trouble: string | null = null;
  #mustReport = false;
  #isClosed = false;

  constructor(options: DataKeyLoaderOptions) {
    this.#options = options;
  }

  /** Why secrets cannot be sealed, or null. A missing older key does not count: it affects only some providers. */
  get trouble(): string | null {
    return this.#options.secretBox.sealingKeyId === null ? this.#trouble : null;
  }

  /** Never rejects. A failure is logged, and the load is retried later. */
  load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#loading = this.#loading.then(() => this.#load());
    return this.#loading;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#loading;
  }

  async #load(): Promise<void> {
    if (this.#isClosed) return;
    const { dataKeys, log, retryIntervalMsMax } = this.#options;
    try {
      await this.#telling(() => dataKeys.load());
      if (this.#failures > 0) log.info({ attempts: this.#failures + 1 }, "loaded the data keys");
      this.#failures = 0;
      this.#trouble = null;
    } catch (error) {
      this.#trouble =
        error instanceof KmsError ? error.message : "cannot read the data keys from the database";
      log.error(
        { reason: this.#trouble, error },
        "some data keys are missing: their secrets cannot be decrypted",
      );
      const waitMs = Math.min(firstRetryMs * 2 ** this.#failures++, retryIntervalMsMax);
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.load(), waitMs);
    }
  }

  /** Reports new keys even if other keys fail to load. After a failed report, the next load repeats the report. */
  async #telling(load: () => Promise<void>): Promise<void> {
    const { secretBox, keysCame } = this.#options;
    const count = secretBox.keyCount;
    try {
      await load();
    } finally {
      this.#mustReport ||= secretBox.keyCount > count;
      if (this.#mustReport) await keysCame();
      this.#mustReport = false;
    }
  }
}

const firstRetryMs = 500;
