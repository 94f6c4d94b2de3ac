import { holdsSecret } from "../upstream/hide-secret.ts";
import { isObject } from "../wire/json.ts";

/**
 * Explains an answer that is no model list to the administrator.
 * @param body the answer's JSON, or null
 * @param path the requested path
 */
export function explainRefusal(status: number, body: unknown, { path, secret }: AskedAt): string {
  const said = quote(body, secret);
  if (status === 401 || status === 403) {
    return secret === null
      ? `It wants a key (HTTP status ${status}).`
      : `The key was refused (HTTP status ${status}).`;
  }
  if (status === 404 || status === 405) {
    return `There is nothing at ${path} (HTTP status ${status}). Check the base URL: often it ends in /v1.`;
  }
  if (status >= 300 && status < 400) {
    return `It redirects (HTTP status ${status}), which is never followed. Check the base URL.`;
  }
  if (status === 402) return `The key was taken, but its account cannot pay (HTTP status 402).${said}`;
  if (status === 429)
    return `The key was taken, but it may send no more requests for now (HTTP status 429).${said}`;
  if (status >= 500) return `It has trouble of its own (HTTP status ${status}).${said}`;
  return `It answered ${path} with HTTP status ${status}.${said}`;
}

type AskedAt = { path: string; secret: string | null };

/** The upstream's own message, where it is short, plain and free of the credential. */
function quote(body: unknown, secret: string | null): string {
  const text = messageIn(body)?.trim() ?? "";
  const isPlain = text !== "" && text.length <= quoteLengthMax && /^[^\p{Cc}<>]+$/u.test(text);
  const isSafe = secret === null || !holdsSecret(text, secret, pieceLength);
  return isPlain && isSafe ? ` It says: ${text}` : "";
}

const quoteLengthMax = 200;

function messageIn(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const error = body["error"];
  const candidates = [isObject(error) ? error["message"] : error, body["message"], body["detail"]];
  return candidates.find((candidate) => typeof candidate === "string");
}

/** Upstreams quote keys in part, as in `sk-pr***ABCD`, so a few equal characters count as a quote. */
const pieceLength = 4;
