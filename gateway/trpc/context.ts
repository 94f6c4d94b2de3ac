import type { IncomingMessage, ServerResponse } from "node:http";
import { TRPCError } from "@trpc/server";
import type { CreateExpressContextOptions } from "@trpc/server/adapters/express";
import { parseCookie, stringifySetCookie } from "cookie";
import { toGatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import { expectJson, isSameOrigin } from "../http/browser-request.ts";
import type { Services } from "../services.ts";
import type { Runtime } from "../runtime.ts";
import { clientAddressOf, type TrustedProxies } from "../http/trusted-proxies.ts";
import { readAccessToken, type CallRequest } from "./read-call-body.ts";
import { toTrpcError } from "./to-trpc-error.ts";
import type { RefreshToken } from "../auth/session-service.ts";

export type Context = {
  services: Pick<
    Services,
    | "accounts"
    | "audit"
    | "budgets"
    | "credentials"
    | "invitations"
    | "keyUsage"
    | "keys"
    | "models"
    | "onboarding"
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
