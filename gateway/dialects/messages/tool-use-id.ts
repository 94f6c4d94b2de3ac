/**
 * Converts a tool call's ID to characters that Anthropic accepts, reversibly. Other upstreams use more characters
 * (Kimi: `functions.read:0`), and the conversation may continue with Anthropic.
 * @param fallback used when the upstream sent no ID
 */
export function toToolUseId(id: unknown, fallback: string): string {
  if (typeof id !== "string" || id === "") return fallback;
  return /^[\w-]+$/.test(id) && !id.startsWith(prefix)
    ? id
    : `${prefix}${Buffer.from(id).toString("base64url")}`;
}

/** Restores the upstream's ID. */
export function fromToolUseId(id: string): string {
  return id.startsWith(prefix) ? Buffer.from(id.slice(prefix.length), "base64url").toString("utf8") : id;
}

const prefix = "toolu_gateway_";
