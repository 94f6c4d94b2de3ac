import { buildConnector, Pool } from "undici";
import { GatewayError } from "../errors.ts";
import type { Endpoint } from "../providers/provider.ts";
import { type AddressGuard, privateAddressError } from "./address-guard.ts";
import { NetworkCall } from "./network-call.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamTimeouts } from "./upstream-call.ts";

type UpstreamsOptions = {
  guard: AddressGuard;
  connectionsMax: number;
  /** Milliseconds since 1970. */
  now: () => number;
};

/** The connections to upstreams: one pool for each origin. Redirects are never followed, nothing is sent twice. */
export class Upstreams {
  readonly #guard: AddressGuard;
  readonly #connectionsMax: number;
  readonly #now: () => number;
  readonly #pools = new Map<string, Pool>();

  constructor({ guard, connectionsMax, now }: UpstreamsOptions) {
    this.#guard = guard;
    this.#connectionsMax = connectionsMax;
    this.#now = now;
  }

  /** Sends a POST request, or a GET request where there is no body, and tells `events` what comes back. */
  call(
    endpoint: Endpoint,
    body: Buffer | null,
    timeouts: UpstreamTimeouts,
    events: UpstreamEvents,
  ): UpstreamCall {
    const call = new NetworkCall(events, timeouts);
    if (endpoint.sign) void this.#callSigned(endpoint, endpoint.sign, body, timeouts, call);
    else this.#dispatch(endpoint, endpoint.headers, body, timeouts, call);
    return call;
  }

  async #callSigned(
    endpoint: Endpoint,
    sign: NonNullable<Endpoint["sign"]>,
    body: Buffer | null,
    timeouts: UpstreamTimeouts,
    call: NetworkCall,
  ): Promise<void> {
    try {
      const signature = await sign({ method: methodFor(body), body, date: new Date(this.#now()) });
      this.#dispatch(endpoint, [...endpoint.headers, ...signature], body, timeouts, call);
    } catch (cause) {
      call.fail(
        new GatewayError("internal_error", "The request to the model's provider could not be signed.", {
          cause,
        }),
      );
    }
  }

  #dispatch(
    { origin, path }: Endpoint,
    headers: string[],
    body: Buffer | null,
    timeouts: UpstreamTimeouts,
    call: NetworkCall,
  ): void {
    if (call.isOver) return;
    const pool = this.#poolOf(origin, timeouts.connectTimeoutMs);
    pool.dispatch({ path, method: methodFor(body), headers, body }, call);
  }

  /** Lets go of the connections to every origin that is not listed, once the calls under way have ended. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const [name, pool] of this.#pools) {
      if (origins.has(name.slice(name.indexOf(" ") + 1))) continue;
      this.#pools.delete(name);
      void pool.close();
    }
  }

  /** Ends every connection, and with it every call under way. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
    this.#pools.clear();
  }

  #poolOf(origin: string, connectTimeoutMs: number): Pool {
    const name = `${connectTimeoutMs} ${origin}`;
    const existing = this.#pools.get(name);
    if (existing) return existing;
    const pool = new Pool(origin, {
      connections: this.#connectionsMax,
      connect: guardedConnector(this.#guard, connectTimeoutMs),
      // NetworkCall keeps the time.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 20_000,
      allowH2: false,
    });
    this.#pools.set(name, pool);
    return pool;
  }
}

function methodFor(body: Buffer | null): "GET" | "POST" {
  return body === null ? "GET" : "POST";
}

function guardedConnector(guard: AddressGuard, timeoutMs: number): buildConnector.connector {
  const open = buildConnector({ timeout: timeoutMs });
  const openPublic = buildConnector({ timeout: timeoutMs, lookup: guard.lookupPublic });
  return (options, callback) => {
    const port = options.port || (options.protocol === "https:" ? "443" : "80");
    if (guard.allowsPrivate(options.hostname, port)) return open(options, callback);
    // `lookup` is not called for literals, so they are judged here.
    if (guard.refusesLiteral(options.hostname)) return callback(privateAddressError(), null);
    return openPublic(options, callback);
  };
}
