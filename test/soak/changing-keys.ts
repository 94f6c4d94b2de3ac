import { setTimeout as wait } from "node:timers/promises";
import { createKey, signIn } from "../helpers/test-gateway.ts";

type KeysOptions = { url: string; email: string; password: string; models: string[] };

/** Provides a few keys, and replaces one of them every second. Replaced keys are deactivated. */
export class ChangingKeys {
  readonly #options: KeysOptions;
  readonly #keys: { id: string; value: string }[] = [];
  readonly #changing: Promise<void>;
  #isStopping = false;
  #turn = 0;
  changes = 0;
  /** The number of changes that failed, for example while the database was unavailable. */
  refusedChanges = 0;

  private constructor(options: KeysOptions, keys: { id: string; value: string }[]) {
    this.#options = options;
    this.#keys = keys;
    this.#changing = this.#change();
  }

  static async create(options: KeysOptions): Promise<ChangingKeys> {
    const admin = await signIn(options.url, options);
    const keys = await Promise.all(
      Array.from({ length: keyCount }, () => createKey({ admin }, options.models)),
    );
    return new ChangingKeys(options, keys);
  }

  next(): string {
    return this.#keys[this.#turn++ % this.#keys.length]?.value ?? "";
  }

  stop(): Promise<void> {
    this.#isStopping = true;
    return this.#changing;
  }

  async #change(): Promise<void> {
    let admin = await signIn(this.#options.url, this.#options);
    while (!this.#isStopping) {
      await wait(changeIntervalMs);
      try {
        const key = await createKey({ admin }, this.#options.models);
        await useKey(this.#options.url, key.value);
        const index = this.changes % this.#keys.length;
        const [old] = this.#keys.splice(index, 1, key);
        if (old) await admin.keys.deactivate.mutate({ id: old.id });
        this.changes++;
      } catch {
        this.refusedChanges++;
        // The access token may have expired.
        admin = await signIn(this.#options.url, this.#options).catch(() => admin);
      }
    }
  }
}

const keyCount = 8;
const changeIntervalMs = 1_000;

/** Sends a request, so that the gateway caches the new key. Throws if the request fails. */
async function useKey(url: string, value: string): Promise<void> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${value}` } });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The new key got HTTP status ${response.status}.`);
}
