import type { IncomingMessage, ServerResponse } from "node:http";
import { TRPCError } from "@trpc/server";
import type { CreateExpressContextOptions } from "@trpc/server/adapters/express";
import { parseCookie, stringifySetCookie } from "cookie";
import { type ErrorCode, errorStatuses, type GatewayError, toGatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import { expectJson, isSameOrigin } from "../http/browser-request.ts";
import type { Services } from "../services.ts";
import { clientAddressOf, type TrustedProxies } from "../http/trusted-proxies.ts";
import type { RefreshToken } from "../auth/session-service.ts";
import type { TRPC_ERROR_CODE_KEY } from "@trpc/server/rpc";
import { consoleOf, strangers } from "../http/body-budget.ts";
import { ClientGoneError, readPlainBody } from "../http/read-body.ts";

export type Context = ReturnType<ReturnType<typeof createContext>>;

type ContextOptions = { publicUrl: string | null; trustedProxies: TrustedProxies };

/** The returned function throws for requests that a page of another origin can trigger in a browser. */
export function createContext(services: Services, { publicUrl, trustedProxies }: ContextOptions) {
  return ({ req, res }: CreateExpressContextOptions) => {
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
      /** The client's IP address. */
      address: clientAddressOf(req, trustedProxies),
      /** Without a trailing slash. Empty if it comes from invalid request headers. */
      publicUrl: publicUrl ?? publicUrlOf(req),
      /** Null if no public URL is configured. `publicUrl` then comes from the request. */
      configuredUrl: publicUrl,
      accessToken: readAccessToken(req),
      refreshCookie: refreshCookie(req, res, publicUrl?.startsWith("https:") === true),
    };
  };
}

/** Only the sender of the request sees the result, so forged headers deceive only their sender. */
function publicUrlOf({ headers: { origin = "", host } }: IncomingMessage): string {
  // A sandboxed page's origin is the text "null".
  const url = URL.parse(origin) ?? URL.parse(`http://${host}`);
  return url?.protocol.startsWith("http") ? url.origin : "";
}

/** @param secure whether the configured public URL uses https */
function refreshCookie({ headers }: IncomingMessage, response: ServerResponse, secure: boolean) {
  const name = "gateway_refresh";
  const options = { path: "/trpc", httpOnly: true, sameSite: "strict", secure } as const;
  const write = (value: string, expires: Date): void => {
    response.setHeader("set-cookie", stringifySetCookie({ name, value, expires, ...options }));
  };
  return {
    read: (): string | null => parseCookie(headers.cookie ?? "")[name] ?? null,
    set: ({ value, expiresAt }: RefreshToken): void => write(value, expiresAt),
    clear: (): void => write("", new Date(0)),
  };
}

export function toTrpcError(error: GatewayError): TRPCError {
  const code = trpcCodes[errorStatuses[error.code]];
  return new TRPCError({ code, message: error.message, cause: error });
}

const trpcCodes: Record<(typeof errorStatuses)[ErrorCode], TRPC_ERROR_CODE_KEY> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  402: "PAYMENT_REQUIRED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_SUPPORTED",
  408: "TIMEOUT",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  // tRPC has no code for a refused upgrade.
  426: "METHOD_NOT_SUPPORTED",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
  504: "GATEWAY_TIMEOUT",
};

type CallRequest = IncomingMessage & {
  /** tRPC uses this text instead of reading the socket. */
  body?: string;
  bodyError?: unknown;
};

/**
 * For one-byte chunks, tRPC's own reader needs a hundred times the body's size in memory. Clients without a
 * valid token can send only small bodies.
 */
export function readCallBody({ bodyBudget, sessions }: Pick<Services, "bodyBudget" | "sessions">) {
  return async (request: CallRequest, response: ServerResponse, next: () => void): Promise<void> => {
    if (request.method === "GET" || request.method === "HEAD") return next();
    // The path lists the called procedures, separated by commas.
    const callsAuth = /^[^?]*\bauth\./.test(request.url ?? "");
    const accessToken = callsAuth ? null : readAccessToken(request);
    const userId = accessToken && (await sessions.findUserId(accessToken));
    const held = bodyBudget.hold(userId === null ? strangers : consoleOf(userId));
    response.on("close", () => held.release());
    try {
      const bytesMax = userId === null ? strangersBodyBytesMax : callBodyBytesMax;
      request.body = (await readPlainBody(request, bytesMax, held)).toString();
    } catch (error) {
      if (error instanceof ClientGoneError) return;
      request.body = "";
      request.bodyError = error;
    }
    next();
  };
}

const callBodyBytesMax = 1024 * 1024;
const strangersBodyBytesMax = 16 * 1024;

function readAccessToken({ headers }: IncomingMessage): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
