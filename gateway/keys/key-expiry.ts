import type { GatewayError } from "../errors.ts";
import { invalidApiKey } from "./authenticate-key.ts";

type KeyExpiryOptions = {
  now: () => number;
  openExchanges: { expire(now: number, error: GatewayError): void };
};

/** Ends the requests in flight of expired keys, within a second of the expiry. */
export class KeyExpiry {
  readonly #timer: NodeJS.Timeout;

  constructor({ now, openExchanges }: KeyExpiryOptions) {
    this.#timer = setInterval(() => openExchanges.expire(now(), invalidApiKey()), checkIntervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** One timer for all requests, because a timer for each request would cost every request. */
const checkIntervalMs = 500;
