import type { IncomingMessage } from "node:http";

/** The access token of a request. Null without one. */
export function readAccessToken({ headers }: IncomingMessage): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
