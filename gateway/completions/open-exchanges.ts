import type { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Route } from "../models/resolve-route.ts";

/** What has to be known of a request under way to end it. */
type OpenExchange = {
  key: KnownKey;
  readonly route: Route | null;
  readonly isStream: boolean;
  fail(error: GatewayError): void;
  interrupt(error: GatewayError): void;
};

/** The requests under way, by key: to cut those of a key that has been stopped, and to know when the gateway may exit. */
export class OpenExchanges {
  readonly #byKey = new Map<string, Set<OpenExchange>>();
  #onEmpty: (() => void) | null = null;

  add(exchange: OpenExchange): void {
    const open = this.#byKey.get(exchange.key.id);
    if (open) open.add(exchange);
    else this.#byKey.set(exchange.key.id, new Set([exchange]));
  }

  remove(exchange: OpenExchange): void {
    const open = this.#byKey.get(exchange.key.id);
    open?.delete(exchange);
    if (open?.size === 0) this.#byKey.delete(exchange.key.id);
    if (this.#byKey.size === 0) this.#onEmpty?.();
  }

  count(): { requests: number; streams: number } {
    const open = [...this.#byKey.values()].flatMap((exchanges) => [...exchanges]);
    return { requests: open.length, streams: open.filter(({ isStream }) => isStream).length };
  }

  keyIds(): string[] {
    return [...this.#byKey.keys()];
  }

  /** The hashes of the values with which the key's open requests came. */
  hashesOf(keyId: string): Set<string> {
    return new Set([...(this.#byKey.get(keyId) ?? [])].map((exchange) => exchange.key.hash));
  }

  /**
   * Tells the requests that came with a value of a key what the key is now: those it no longer allows are ended with
   * `error`; the others, some of which may not have named their model yet, go on with the key as it is.
   */
  update(keyId: string, hash: string, key: KnownKey | null, error: GatewayError): void {
    for (const exchange of this.#byKey.get(keyId) ?? []) {
      if (exchange.key.hash !== hash) continue;
      if (key === null || (exchange.route && !key.modelIds.has(exchange.route.id))) exchange.fail(error);
      else exchange.key = key;
    }
  }

  /** Resolves when no request is under way; after `timeoutMs` those that are left are ended with `error`. */
  async drain(timeoutMs: number, error: GatewayError): Promise<void> {
    if (this.#byKey.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      timer = setTimeout(() => {
        for (const open of [...this.#byKey.values()])
          for (const exchange of [...open]) exchange.interrupt(error);
      }, timeoutMs);
    });
    clearTimeout(timer);
  }
}
