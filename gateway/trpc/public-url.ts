import type { IncomingMessage } from "node:http";

/**
 * Where people reach the gateway: as it was configured, else as the page that asks was reached, else as the request was.
 * What is made of it is told to whoever sent the request and nobody else, so that a forged header deceives its sender.
 */
export function publicUrlOf({ headers }: IncomingMessage, configured: string | null): string {
  if (configured !== null) return configured.replace(/\/+$/, "");
  const { origin, host } = headers;
  const address = origin !== undefined && URL.canParse(origin) ? origin : `http://${host}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  // A sandboxed page's origin is the text "null".
  return url === null || !url.protocol.startsWith("http") ? "" : url.origin;
}
