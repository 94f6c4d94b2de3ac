import type { IncomingMessage, ServerResponse } from "node:http";
import { TRPCError } from "@trpc/server";
import type { CreateExpressContextOptions } from "@trpc/server/adapters/express";
import { parseCookie, stringifySetCookie } from "cookie";
import { toGatewayError, type ErrorCode, type GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import { expectJson, isSameOrigin } from "../http/browser-request.ts";
import type { Services } from "../services.ts";
import type { Runtime } from "../runtime.ts";
import { clientAddressOf, type TrustedProxies } from "../http/trusted-proxies.ts";
import type { RefreshToken } from "../auth/session-service.ts";
import type { TRPC_ERROR_CODE_KEY } from "@trpc/server/rpc";
import { type BodyBudget, consoleOf, strangers } from "../http/body-budget.ts";
import { ClientGoneError, readPlainBody } from "../http/read-body.ts";

export type Context = {
  services: Pick<
    Services,
    | "accounts"
    | "audit"
    | "budgets"
    | "credentials"
    | "holderLimits"
    | "invitations"
    | "keyUsage"
    | "keys"
    | "models"
    | "providers"
    | "sessions"
    | "usageHistory"
    | "users"
  >;
  runtime: Runtime;
  requestId: string;
  /** The client's IP address. */
  address: string;
  /** The public URL without a trailing slash. Empty if it comes from invalid request headers. */
  publicUrl: string;
  /** Null if no public URL is configured. `publicUrl` then comes from the request. */
  configuredUrl: string | null;
  accessToken: string | null;
  refreshCookie: RefreshCookie;
};

type ContextOptions = { publicUrl: string | null; trustedProxies: TrustedProxies };

/** The returned function throws for requests that a page of another origin can trigger in a browser. */
export function createContext(services: Services, { publicUrl, trustedProxies }: ContextOptions) {
  return ({ req, res }: CreateExpressContextOptions): Context => {
    const requestId = createId("req", services.runtime);
    res.setHeader("x-request-id", requestId);
    res.setHeader("cache-control", "no-store");
    if (!isSameOrigin(req.headers)) {
      throw new TRPCError({
        code: "FORBIDDEN",
        message: "The console API rejects requests from other sites. Use the console at its own URL.",
      });
    }
    // tRPC also reads forms, which browsers send to other origins without a preflight request.
    try {
      if (req.method !== "GET") expectJson(req.headers);
      const { bodyError } = req as CallRequest;
      if (bodyError !== undefined) throw bodyError;
    } catch (error) {
      throw toTrpcError(toGatewayError(error));
    }
    return {
      services,
      runtime: services.runtime,
      requestId,
      address: clientAddressOf(req, trustedProxies),
      publicUrl: publicUrlOf(req, publicUrl),
      configuredUrl: publicUrl?.replace(/\/+$/, "") ?? null,
      accessToken: readAccessToken(req),
      refreshCookie: new RefreshCookie(req, res, publicUrl?.startsWith("https:") === true),
    };
  };
}

/** Only the sender of the request sees the result, so forged headers deceive only their sender. */
function publicUrlOf({ headers }: IncomingMessage, configured: string | null): string {
  if (configured !== null) return configured.replace(/\/+$/, "");
  const { origin, host } = headers;
  // A sandboxed page's origin is the text "null".
  const address = origin !== undefined && URL.canParse(origin) ? origin : `http://${host}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  return url === null || !url.protocol.startsWith("http") ? "" : url.origin;
}

class RefreshCookie {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #isSecure: boolean;

  /** @param isSecure whether the configured public URL uses https */
  constructor(request: IncomingMessage, response: ServerResponse, isSecure: boolean) {
    this.#request = request;
    this.#response = response;
    this.#isSecure = isSecure;
  }

  read(): string | null {
    return parseCookie(this.#request.headers.cookie ?? "")[cookieName] ?? null;
  }

  set({ value, expiresAt }: RefreshToken): void {
    this.#write(value, expiresAt);
  }

  clear(): void {
    this.#write("", new Date(0));
  }

  #write(value: string, expires: Date): void {
    this.#response.setHeader(
      "set-cookie",
      stringifySetCookie({
        name: cookieName,
        value,
        expires,
        path: "/trpc",
        httpOnly: true,
        sameSite: "strict",
        secure: this.#isSecure,
      }),
    );
  }
}

const cookieName = "gateway_refresh";

export function toTrpcError(error: GatewayError): TRPCError {
  return new TRPCError({ code: table[error.code], message: error.message, cause: error });
}

const table: Record<ErrorCode, TRPC_ERROR_CODE_KEY> = {
  missing_api_key: "UNAUTHORIZED",
  invalid_api_key: "UNAUTHORIZED",
  model_not_found: "NOT_FOUND",
  invalid_body: "BAD_REQUEST",
  missing_required_parameter: "BAD_REQUEST",
  invalid_type: "BAD_REQUEST",
  invalid_value: "BAD_REQUEST",
  unsupported_parameter: "BAD_REQUEST",
  request_too_large: "PAYLOAD_TOO_LARGE",
  request_timeout: "TIMEOUT",
  unsupported_encoding: "UNSUPPORTED_MEDIA_TYPE",
  unknown_url: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_SUPPORTED",
  upgrade_refused: "METHOD_NOT_SUPPORTED",
  previous_response_not_found: "BAD_REQUEST",
  item_not_found: "NOT_FOUND",
  response_not_found: "NOT_FOUND",
  websocket_connection_limit_reached: "BAD_REQUEST",
  rate_limit_exceeded: "TOO_MANY_REQUESTS",
  token_limit_exceeded: "TOO_MANY_REQUESTS",
  concurrency_limit_exceeded: "TOO_MANY_REQUESTS",
  insufficient_quota: "PAYMENT_REQUIRED",
  address_not_allowed: "UNAUTHORIZED",
  upstream_rejected: "BAD_GATEWAY",
  upstream_auth_failed: "BAD_GATEWAY",
  upstream_error: "BAD_GATEWAY",
  upstream_timeout: "GATEWAY_TIMEOUT",
  unauthenticated: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  not_found: "NOT_FOUND",
  conflict: "CONFLICT",
  too_many_attempts: "TOO_MANY_REQUESTS",
  service_unavailable: "SERVICE_UNAVAILABLE",
  internal_error: "INTERNAL_SERVER_ERROR",
};

type CallRequest = IncomingMessage & {
  /** tRPC uses this text instead of reading the socket. */
  body?: string;
  bodyError?: unknown;
};

type ReadCallBodyOptions = {
  bodyBudget: BodyBudget;
  sessions: { findUserId(accessToken: string): Promise<string | null> };
};

/**
 * For one-byte chunks, tRPC's own reader needs a hundred times the body's size in memory. Clients without a
 * valid token can send only small bodies.
 */
export function readCallBody({ bodyBudget, sessions }: ReadCallBodyOptions) {
  return async (request: CallRequest, response: ServerResponse, next: () => void): Promise<void> => {
    if (request.method === "GET" || request.method === "HEAD") return next();
    const accessToken = readAccessToken(request);
    const userId =
      callsAuth(request.url ?? "") || accessToken === null ? null : await sessions.findUserId(accessToken);
    const held = bodyBudget.hold(userId === null ? strangers : consoleOf(userId));
    response.on("close", () => held.release());
    try {
      const bytes = await readPlainBody(
        request,
        userId === null ? strangersBodyBytesMax : callBodyBytesMax,
        held,
      );
      request.body = bytes.toString();
    } catch (error) {
      if (error instanceof ClientGoneError) return;
      request.body = "";
      request.bodyError = error;
    }
    next();
  };
}

/** The path lists the called procedures, separated by commas. */
function callsAuth(url: string): boolean {
  return /^[^?]*\bauth\./.test(url);
}

const callBodyBytesMax = 1024 * 1024;
const strangersBodyBytesMax = 16 * 1024;

function readAccessToken({ headers }: IncomingMessage): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
