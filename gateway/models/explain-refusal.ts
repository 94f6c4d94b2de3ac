import { holdsSecret } from "../upstream/hide-secret.ts";
import { isObject } from "../wire/json.ts";

/**
 * Explains a response that is not a model list to the administrator.
 * @param body the response's JSON, or null
 * @param path the requested path
 */
export function explainRefusal(status: number, body: unknown, { path, secret }: RefusedCall): string {
  const quoted = quote(body, secret);
  if (status === 401 || status === 403) {
    return secret === null
      ? `Authentication required (HTTP status ${status}). Add a key.`
      : `The key was rejected (HTTP status ${status}). Check it.`;
  }
  if (status === 404 || status === 405) {
    return `${path} does not exist (HTTP status ${status}). Check the base URL: it often ends in /v1.`;
  }
  if (status >= 300 && status < 400) {
    return `The provider returned a redirect (HTTP status ${status}), which the gateway does not follow. Check the base URL.`;
  }
  if (status === 402)
    return `Key accepted, but the account has insufficient funds (HTTP status 402).${quoted}`;
  if (status === 429) return `Key accepted, but its rate limit is reached (HTTP status 429).${quoted}`;
  if (status >= 500) return `Provider error (HTTP status ${status}).${quoted}`;
  return `The provider returned HTTP status ${status} for ${path}.${quoted}`;
}

type RefusedCall = { path: string; secret: string | null };

/** The upstream's own message, if it is short, plain and free of the credential. */
function quote(body: unknown, secret: string | null): string {
  const text = messageIn(body)?.trim() ?? "";
  const isPlain = text !== "" && text.length <= quoteLengthMax && /^[^\p{Cc}<>]+$/u.test(text);
  const isSafe = secret === null || !holdsSecret(text, secret, pieceLength);
  return isPlain && isSafe ? ` Its message: ${text}` : "";
}

const quoteLengthMax = 200;

function messageIn(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const error = body["error"];
  const candidates = [isObject(error) ? error["message"] : error, body["message"], body["detail"]];
  return candidates.find((candidate) => typeof candidate === "string");
}

/** Upstreams quote parts of keys, as in `sk-pr***ABCD`, so a few equal characters count as a quote. */
const pieceLength = 4;
