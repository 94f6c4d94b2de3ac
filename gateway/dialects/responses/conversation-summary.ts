import { isObject } from "../../wire/json.ts";

/** The `encrypted_content` of a `compaction` item of this gateway. It holds no secret, so it needs no encryption. */
export function formatSummary(text: string): string {
  return `${summaryPrefix}${Buffer.from(text).toString("base64")}`;
}

/** The text of a `compaction` item of this gateway. Null for other items. */
export function readSummary(item: Record<string, unknown>): string | null {
  const { type, encrypted_content: content } = item;
  if (type !== "compaction" || typeof content !== "string" || !content.startsWith(summaryPrefix)) return null;
  const text = Buffer.from(content.slice(summaryPrefix.length), "base64").toString("utf8");
  return `Summary of the conversation so far:\n${text}`;
}

/** Converts a summary to a message, for an upstream that cannot read it. Returns other items unchanged. */
export function withReadableSummary(item: unknown): unknown {
  const text = isObject(item) ? readSummary(item) : null;
  return text === null ? item : { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

const summaryPrefix = "gateway-summary-v1:";
