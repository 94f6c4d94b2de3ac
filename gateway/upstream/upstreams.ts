import { hash } from "node:crypto";
import { GatewayError } from "../errors.ts";
import type { Endpoint, UpstreamRequest as SignedRequest } from "../providers/provider.ts";
import type { AddressGuard } from "./address-guard.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { type HttpLimits, isToken } from "./answer-reader.ts";
import { LocalCall } from "./local-call.ts";
import { NetworkCall } from "./network-call.ts";
import { Dialler } from "./connection.ts";
import { withCode } from "./upstream-failure.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamRequest, UpstreamTimeouts } from "./upstream-call.ts";

type UpstreamsOptions = {
  guard: AddressGuard;
  limits: HttpLimits;
  /** Milliseconds since 1970. */
  now: () => number;
};

/** Has a connection pool for each origin and connect timeout. Never follows redirects or sends a request twice. */
export class Upstreams {
  readonly #guard: AddressGuard;
  readonly #limits: HttpLimits;
  readonly #now: () => number;
  readonly #pools = new Map<string, ConnectionPool>();
  readonly #sharedHeads = new WeakMap<Endpoint, SharedHead>();
  #isClosed = false;

  constructor({ guard, limits, now }: UpstreamsOptions) {
    this.#guard = guard;
    this.#limits = limits;
    this.#now = now;
  }

  /** Sends a POST request, or a GET request if the body is null. */
  call(
    endpoint: Endpoint,
    body: readonly Buffer[] | null,
    timeouts: UpstreamTimeouts,
    events: UpstreamEvents,
  ): UpstreamCall {
    if (endpoint.answer) {
      const answer = endpoint.answer(this.#wholeRequest(body));
      return new LocalCall(answer, timeouts, events);
    }
    const call = new NetworkCall(events, timeouts);
    if (endpoint.sign) void this.#callSigned(endpoint, endpoint.sign, body, timeouts, call);
    else this.#send(endpoint, [], body, timeouts, call);
    return call;
  }

  async #callSigned(
    endpoint: Endpoint,
    sign: NonNullable<Endpoint["sign"]>,
    body: readonly Buffer[] | null,
    timeouts: UpstreamTimeouts,
    call: NetworkCall,
  ): Promise<void> {
    try {
      const signature = await sign(this.#wholeRequest(body));
      this.#send(endpoint, signature, body, timeouts, call);
    } catch (cause) {
      call.fail(
        new GatewayError(
          "internal_error",
          "The request to the provider could not be signed. Ask an administrator to check the provider's credential.",
          {
            cause,
          },
        ),
      );
    }
  }

  #send(
    endpoint: Endpoint,
    signature: string[],
    body: readonly Buffer[] | null,
    timeouts: UpstreamTimeouts,
    call: NetworkCall,
  ): void {
    if (call.isOver) return;
    try {
      if (this.#isClosed) throw new Error("The gateway is shutting down. Retry the request.");
      const { head, credential } = this.#sharedHeadOf(endpoint);
      const request = formatRequest(head, signature, body);
      this.#poolOf(endpoint.origin, timeouts.connectTimeoutMs).begin(call, credential, request);
    } catch (cause) {
      // A microtask defers the event, because the caller needs the call object first.
      queueMicrotask(() => call.onFailure(cause as Error));
    }
  }

  #wholeRequest(body: readonly Buffer[] | null): SignedRequest {
    const date = new Date(this.#now());
    return body === null
      ? { method: "GET", body, date }
      : { method: "POST", body: Buffer.concat(body), date };
  }

  /** Closes connections that match no endpoint's origin and credential, after their current calls. */
  keepOnly(endpoints: Iterable<Endpoint>): void {
    const credentials = new Map<string, Set<string>>();
    for (const { origin, secret } of endpoints) {
      const kept = credentials.get(origin) ?? new Set();
      credentials.set(origin, kept.add(identify(secret)));
    }
    for (const [name, pool] of this.#pools) {
      const kept = credentials.get(name.slice(name.indexOf(" ") + 1));
      pool.keepOnly(kept ?? new Set());
      if (!kept && pool.isEmpty) this.#pools.delete(name);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  #sharedHeadOf(endpoint: Endpoint): SharedHead {
    const existing = this.#sharedHeads.get(endpoint);
    if (existing) return existing;
    const shared = { head: formatSharedHead(endpoint), credential: identify(endpoint.secret) };
    this.#sharedHeads.set(endpoint, shared);
    return shared;
  }

  #poolOf(origin: string, connectTimeoutMs: number): ConnectionPool {
    const name = `${connectTimeoutMs} ${origin}`;
    const existing = this.#pools.get(name);
    if (existing) return existing;
    const dialler = new Dialler({ origin, guard: this.#guard, connectTimeoutMs });
    const pool = new ConnectionPool(dialler, this.#limits);
    this.#pools.set(name, pool);
    return pool;
  }
}

type SharedHead = {
  head: string;
  /** Calls with different credentials never share a connection. */
  credential: string;
};

/** Returns a hash, so that a connection's `credential` does not reveal the secret. */
function identify(secret: string | null): string {
  return secret === null ? "" : hash("sha256", secret);
}

/**
 * Formats the part of a request head that is constant for the endpoint. Throws for an invalid path or header.
 */
function formatSharedHead({ origin, path, headers }: Endpoint): string {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw unsendable("The path");
  return ` ${path} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\nconnection: keep-alive\r\n${formatFields(headers)}`;
}

/** @param moreHeaders alternating names and values */
function formatRequest(
  sharedHead: string,
  moreHeaders: string[],
  body: readonly Buffer[] | null,
): UpstreamRequest {
  const fields = moreHeaders.length === 0 ? "" : formatFields(moreHeaders);
  if (body === null) return { head: `GET${sharedHead}${fields}\r\n`, body, bodyLength: 0 };
  let bodyLength = 0;
  for (const part of body) bodyLength += part.length;
  return { head: `POST${sharedHead}${fields}content-length: ${bodyLength}\r\n\r\n`, body, bodyLength };
}

function formatFields(headers: string[]): string {
  let fields = "";
  for (let index = 0; index < headers.length; index += 2) {
    const [name = "", value = ""] = headers.slice(index, index + 2);
    if (!isToken(name) || ours.test(name)) throw unsendable("A header name");
    // The error omits the value, which may be a secret.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw unsendable(`The header ${name}`);
    fields += `${name}: ${value}\r\n`;
  }
  return fields;
}

/** A provider's headers must not override the target, the connection or the framing. */
const ours = /^(?:host|connection|content-length|transfer-encoding)$/i;

function unsendable(what: string): Error {
  return withCode("EBADREQUEST", `${what} contains invalid characters.`);
}
