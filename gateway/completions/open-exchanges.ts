import type { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Route } from "../routing/catalogue.ts";

/** An exchange, as far as the list needs it. */
type OpenExchange = {
  readonly key: KnownKey;
  readonly route: Route | null;
  readonly stream: boolean;
  /** Its index in the list. */
  readonly place: number;
  moveTo(place: number): void;
  keyChanged(key: KnownKey): void;
  fail(error: GatewayError, status?: "INTERRUPTED"): void;
};

/**
 * The requests under way: to cut those of a key that has been stopped, and to know when the gateway may exit. In a list, in
 * whose gaps the last one moves. A `Set` through which all requests pass would be rehashed all the time, and V8's tables lead
 * from each to its successor: one that has grown old keeps all later ones, and every request that was in one, until the next
 * full garbage collection.
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
      last.moveTo(exchange.place);
      this.#open[last.place] = last;
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

  /** The hashes of the values with which the key's open requests came. */
  hashesOf(keyId: string): Set<string> {
    return new Set(this.#open.flatMap(({ key }) => (key.id === keyId ? key.hash : [])));
  }

  /**
   * Gives the key as it is now to the requests that came with this value of it. Those that it no longer allows end with
   * `error`; the others continue.
   */
  update(keyId: string, hash: string, key: KnownKey | null, error: GatewayError): void {
    const affected = this.#open.filter((exchange) => exchange.key.id === keyId && exchange.key.hash === hash);
    for (const exchange of affected) {
      if (key === null || (exchange.route && !key.modelIds.has(exchange.route.id))) exchange.fail(error);
      else exchange.keyChanged(key);
    }
  }

  /** Resolves when no request is under way; after `timeoutMs` those that are left are ended with `error`. */
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
