import type { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Route } from "../models/resolve-route.ts";

/** What has to be known of a request under way to end it. */
type OpenExchange = {
  readonly key: KnownKey;
  readonly route: Route | null;
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

  keyIds(): string[] {
    return [...this.#byKey.keys()];
  }

  /** The hashes of the values with which the key's open requests came. */
  hashesOf(keyId: string): Set<string> {
    return new Set([...(this.#byKey.get(keyId) ?? [])].map((exchange) => exchange.key.hash));
  }

  /** Ends the requests that came with a value of a key and are no longer allowed. */
  cut(
    keyId: string,
    hash: string,
    isAllowed: (modelId: string | null) => boolean,
    error: GatewayError,
  ): void {
    for (const exchange of this.#byKey.get(keyId) ?? []) {
      if (exchange.key.hash === hash && !isAllowed(exchange.route?.id ?? null)) exchange.fail(error);
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
