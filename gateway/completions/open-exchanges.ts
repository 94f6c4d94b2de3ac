import type { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Route } from "../routing/resolve-route.ts";

/** What has to be known of a request under way to end it. */
type OpenExchange = {
  key: KnownKey;
  readonly route: Route | null;
  readonly stream: boolean;
  /** Where it stands in the list; the list's own. */
  place: number;
  fail(error: GatewayError): void;
  interrupt(error: GatewayError): void;
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
    exchange.place = this.#open.push(exchange) - 1;
  }

  remove(exchange: OpenExchange): void {
    const last = this.#open.pop();
    if (last && last !== exchange) {
      last.place = exchange.place;
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
   * Tells the requests that came with a value of a key what the key is now: those it no longer allows are ended with
   * `error`; the others, some of which may not have named their model yet, go on with the key as it is.
   */
  update(keyId: string, hash: string, key: KnownKey | null, error: GatewayError): void {
    const told = this.#open.filter((exchange) => exchange.key.id === keyId && exchange.key.hash === hash);
    for (const exchange of told) {
      if (key === null || (exchange.route && !key.modelIds.has(exchange.route.id))) exchange.fail(error);
      else exchange.key = key;
    }
  }

  /** Resolves when no request is under way; after `timeoutMs` those that are left are ended with `error`. */
  async drain(timeoutMs: number, error: GatewayError): Promise<void> {
    if (this.#open.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      timer = setTimeout(() => {
        for (const exchange of [...this.#open]) exchange.interrupt(error);
      }, timeoutMs);
    });
    clearTimeout(timer);
  }
}
