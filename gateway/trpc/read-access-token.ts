import type { IncomingMessage } from "node:http";

/** The access token of a request. Null if the request has none. */
export function readAccessToken({ headers }: IncomingMessage): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
