import type { IncomingMessage, ServerResponse } from "node:http";
import { parseCookie, stringifySetCookie } from "cookie";
import type { RefreshToken } from "../auth/session-service.ts";

/**
 * The refresh token's way to the browser and back: a cookie that no script can read, that no other site's request carries,
 * and that goes to this API alone.
 */
export class RefreshCookie {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #isSecure: boolean;

  /** @param isSecure whether people reach the gateway over https. */
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
