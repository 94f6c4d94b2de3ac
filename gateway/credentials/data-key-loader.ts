import type { Log } from "../log.ts";
import type { DataKeys } from "./data-keys.ts";
import { KmsError } from "./kms.ts";
import type { SecretBox } from "./secret-box.ts";

type DataKeyLoaderOptions = {
  dataKeys: Pick<DataKeys, "load">;
  secretBox: SecretBox;
  log: Log;
  /** Runs after new keys are loaded, because they may open secrets that could not be opened before. */
  keysCame(): Promise<void>;
  retryIntervalMsMax: number;
};

/**
 * Loads the data keys and retries until KMS has unwrapped all needed keys. Sealing and opening then
 * work without KMS.
 */
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

  /**
   * The reason why secrets cannot be sealed, or null. A missing older key is not reported, because it affects
   * only some providers.
   */
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
