/**
 * The id of a tool call in a form that Anthropic takes: a conversation may go on there, and other upstreams' ids hold other
 * characters (Kimi's are like `functions.read:0`). What would not do is spelled otherwise, so that it can be had back.
 * @param fallback where the upstream gave none
 */
export function toToolUseId(id: unknown, fallback: string): string {
  if (typeof id !== "string" || id === "") return fallback;
  return /^[\w-]+$/.test(id) && !id.startsWith(prefix)
    ? id
    : `${prefix}${Buffer.from(id).toString("base64url")}`;
}

/** The id as the upstream gave it. */
export function fromToolUseId(id: string): string {
  return id.startsWith(prefix) ? Buffer.from(id.slice(prefix.length), "base64url").toString("utf8") : id;
}

const prefix = "toolu_gateway_";
