import type { IncomingMessage, ServerResponse } from "node:http";
import { type BodyBudget, consoleOf, strangers } from "../http/body-budget.ts";
import { ClientGoneError, readPlainBody } from "../http/read-body.ts";

export type CallRequest = IncomingMessage & {
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

export function readAccessToken({ headers }: IncomingMessage): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
