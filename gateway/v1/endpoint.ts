import type { IncomingMessage, ServerResponse } from "node:http";
import type { Request, RequestHandler } from "express";
import { type AuthenticateKeyOptions, authenticateKey, invalidApiKey } from "../keys/authenticate-key.ts";
import { chat } from "../dialects/chat/chat.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Settings } from "../config/limit-variables.ts";
import type { Log } from "../log.ts";
import type { Runtime } from "../runtime.ts";
import { clientAddressOf, type TrustedProxies } from "../http/trusted-proxies.ts";
import { ObservedRequest } from "../usage/observed-request.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import { HttpReply } from "./http-reply.ts";
import { claimsToBeKeyValue } from "../keys/key-value.ts";

export type EndpointOptions = {
  runtime: Runtime;
  limits: Pick<Settings, "clientStallTimeoutMs">;
  observer: RequestObserver | null;
};

export type EndpointContext = {
  /** Has no methods of Express: see `app.ts`. */
  request: IncomingMessage & Pick<Request, "params">;
  response: ServerResponse;
  id: string;
  reply: HttpReply;
  observed: ObservedRequest | null;
};

/** Wraps an endpoint of `/v1`: creates the request's ID and formats thrown errors. */
export function endpoint(
  { runtime, limits, observer }: EndpointOptions,
  handle: (context: EndpointContext) => Promise<void> | void,
  dialectOf: Dialect | ((request: IncomingMessage) => Dialect) = chat,
): RequestHandler {
  return async (request, response) => {
    const id = createId("req", runtime);
    const dialect = typeof dialectOf === "function" ? dialectOf(request) : dialectOf;
    const reply = new HttpReply(response, id, limits.clientStallTimeoutMs, dialect);
    const observed = observer && observeRequest(request, id);
    try {
      await handle({ request, response, id, reply, observed });
    } catch (thrown) {
      const error = toGatewayError(thrown);
      logOurTrouble(runtime.log, id, error);
      observer?.refused(observed, error.code, reply.statusOf(error));
      reply.fail(error);
    }
  };
}

/** An endpoint that calls no model and answers within `handle`. */
export function plainEndpoint(
  options: EndpointOptions,
  handle: (context: EndpointContext) => Promise<void>,
  dialectOf: Parameters<typeof endpoint>[2],
): RequestHandler {
  const handleAndTell = async (context: EndpointContext) => {
    await handle(context);
    const { observed, response } = context;
    if (observed) options.observer?.answered(observed, response.headersSent ? response.statusCode : 499);
  };
  return endpoint(options, handleAndTell, dialectOf);
}

/** The request's key, if this address may use it. */
export async function keyOf(options: KeyOptions, request: IncomingMessage): Promise<KnownKey> {
  const key = await knownKeyOf(options, request);
  checkAddress(options, key, request);
  return key;
}

export type KeyOptions = AuthenticateKeyOptions & { trustedProxies: TrustedProxies };

/** Throws `address_not_allowed`, with the message for an invalid key. */
export function checkAddress(
  { trustedProxies }: Pick<KeyOptions, "trustedProxies">,
  { limits }: KnownKey,
  request: IncomingMessage,
): void {
  if (!limits?.addressRanges || limits.addressRanges.has(clientAddressOf(request, trustedProxies))) return;
  throw new GatewayError("address_not_allowed", invalidApiKey().message);
}

/** The request's key, for any address. Returned synchronously if cached. */
export function knownKeyOf(
  options: AuthenticateKeyOptions,
  request: IncomingMessage,
): KnownKey | Promise<KnownKey> {
  return authenticateKey(options, readKeyValue(request));
}

/** Logs the details of internal errors. The client gets the request ID. */
export function logOurTrouble(log: Log, requestId: string, error: GatewayError): void {
  if (error.code === "internal_error")
    log.error({ requestId, error }, "a request failed with an internal error");
  if (error.code === "service_unavailable") log.warn({ requestId, error }, "a request could not be served");
}

/**
 * The part of a request that observers may see: its route, never its path. Null for requests outside `/v1`.
 */
function observeRequest(
  request: IncomingMessage & Pick<Request, "route">,
  id: string,
): ObservedRequest | null {
  const { method = "", url = "", headers } = request;
  if (!/^\/v1(?=[/?]|$)/.test(url)) return null;
  const { traceparent } = headers;
  return new ObservedRequest({
    id,
    method,
    route: routeOf(request),
    traceparent: typeof traceparent === "string" ? traceparent : null,
  });
}

function routeOf({ route }: Pick<Request, "route">): string | null {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === "string" ? path.replace(/[*:](\w+)/, "{$1}") : null;
}

/**
 * Reads the key from a bearer token (RFC 6750) or `x-api-key` (Anthropic). Tools may send both, one of them
 * an old key of another vendor. The gateway's key then takes precedence.
 */
function readKeyValue(request: IncomingMessage): string | null {
  if (hasSeveralAuthorizations(request.rawHeaders)) {
    // Node reads the first header and a proxy perhaps the last, so they could check different keys.
    throw new GatewayError(
      "invalid_api_key",
      "The request has more than one Authorization header. Send only one.",
    );
  }
  const { authorization, "x-api-key": apiKey } = request.headers;
  const bearer = authorization === undefined ? null : readBearer(authorization);
  const other = typeof apiKey === "string" && apiKey !== "" ? apiKey : null;
  if (bearer !== null && other !== null && !claimsToBeKeyValue(bearer) && claimsToBeKeyValue(other))
    return other;
  return bearer ?? other;
}

/** Null for other schemes such as Basic. */
function readBearer(authorization: string): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

function hasSeveralAuthorizations(rawHeaders: string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === authorizationLength && name.toLowerCase() === "authorization") count++;
  }
  return count > 1;
}

const authorizationLength = "authorization".length;
