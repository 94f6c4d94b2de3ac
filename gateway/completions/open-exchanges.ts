import type { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Route } from "../routing/catalogue.ts";

type OpenExchange = {
  readonly key: KnownKey;
  readonly route: Route | null;
  readonly stream: boolean;
  readonly index: number;
  moveTo(index: number): void;
  keyChanged(key: KnownKey): void;
  fail(error: GatewayError, status?: "INTERRUPTED"): void;
};

/**
 * The requests in flight: revocation ends them, and shutdown waits for them. An array whose gaps are filled from its
 * end. A `Set` would be rehashed constantly, and V8's old tables would keep finished requests in memory.
 */
export class OpenExchanges {
  readonly #open: OpenExchange[] = [];
  #onEmpty: (() => void) | null = null;

  add(exchange: OpenExchange): void {
    exchange.moveTo(this.#open.push(exchange) - 1);
  }

  remove(exchange: OpenExchange): void {
    const last = this.#open.pop();
    if (last && last !== exchange) {
      last.moveTo(exchange.index);
      this.#open[last.index] = last;
    }
    if (this.#open.length === 0) this.#onEmpty?.();
  }

  count(): { requests: number; streams: number } {
    const streams = this.#open.reduce((sum, { stream }) => sum + (stream ? 1 : 0), 0);
    return { requests: this.#open.length, streams };
  }

  keyIds(): string[] {
    return [...new Set(this.#open.map(({ key }) => key.id))];
  }

  /** Hashes of the values that the key's open requests were sent with. */
  hashesOf(keyId: string): Set<string> {
    return new Set(this.#open.flatMap(({ key }) => (key.id === keyId ? key.hash : [])));
  }

  /** Gives the updated key to the requests sent with this value. Requests that it no longer allows end with `error`. */
  update(keyId: string, hash: string, key: KnownKey | null, error: GatewayError): void {
    const affected = this.#open.filter((exchange) => exchange.key.id === keyId && exchange.key.hash === hash);
    for (const exchange of affected) {
      if (key === null || (exchange.route && !key.modelIds.has(exchange.route.id))) exchange.fail(error);
      else exchange.keyChanged(key);
    }
  }

  /** Resolves when no request is in flight. After `timeoutMs`, the remaining ones end with `error`. */
  async drain(timeoutMs: number, error: GatewayError): Promise<void> {
    if (this.#open.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      timer = setTimeout(() => {
        for (const exchange of this.#open.slice()) exchange.fail(error, "INTERRUPTED");
      }, timeoutMs);
    });
    clearTimeout(timer);
  }
}
