import type { IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";
import { claimsToBeKeyValue } from "../keys/key-value.ts";

/**
 * The key value a client sent, or null for none: as a bearer token (RFC 6750), or in `x-api-key` as Anthropic's clients do.
 * Tools may send both, one of them a stale key of somebody else's; then ours counts.
 */
export function readKeyValue(request: IncomingMessage): string | null {
  if (hasSeveralAuthorizations(request.rawHeaders)) {
    // Node takes the first, a proxy before it perhaps the last: whoever was checked there would not be whoever is here.
    throw new GatewayError(
      "invalid_api_key",
      "The request has more than one Authorization header. Send one.",
    );
  }
  const { authorization, "x-api-key": apiKey } = request.headers;
  const bearer = authorization === undefined ? null : readBearer(authorization);
  const other = typeof apiKey === "string" && apiKey !== "" ? apiKey : null;
  if (bearer !== null && other !== null && !claimsToBeKeyValue(bearer) && claimsToBeKeyValue(other))
    return other;
  return bearer ?? other;
}

/** The token; null for another scheme such as Basic. */
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
