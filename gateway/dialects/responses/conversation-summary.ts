import { isObject } from "../../wire/json.ts";

/**
 * Formats a summary as the `encrypted_content` of a `compaction` item. The summary contains no secret, so it
 * is not encrypted.
 */
export function formatSummary(text: string): string {
  return `${summaryPrefix}${Buffer.from(text).toString("base64")}`;
}

/** Returns null for any item except this gateway's `compaction` items. */
export function readSummary(item: Record<string, unknown>): string | null {
  const { type, encrypted_content: content } = item;
  if (type !== "compaction" || typeof content !== "string" || !content.startsWith(summaryPrefix)) return null;
  const text = Buffer.from(content.slice(summaryPrefix.length), "base64").toString("utf8");
  return `Summary of the conversation so far:\n${text}`;
}

/**
 * Converts this gateway's `compaction` item to a message that any upstream can read. Returns other items
 * unchanged.
 */
export function withReadableSummary(item: unknown): unknown {
  const text = isObject(item) ? readSummary(item) : null;
  return text === null ? item : { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

const summaryPrefix = "gateway-summary-v1:";
