/**
 * Converts a tool call's ID reversibly to characters that Anthropic accepts, because the conversation may
 * continue there. Kimi, for example, sends `functions.read:0`.
 * @param fallback used if the upstream sent no ID
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
