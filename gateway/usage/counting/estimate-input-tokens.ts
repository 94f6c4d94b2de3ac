import { isObject } from "../../wire/json.ts";
import { TokenMeter } from "./token-meter.ts";

/**
 * About how many tokens a request has, whatever dialect it is in: the texts that its model reads, and something for each
 * message and for all that is no text.
 */
export function estimateInputTokens(body: Record<string, unknown>): number {
  const count: Count = { meter: new TokenMeter(), metered: 0, length: 0, tokens: 0 };
  for (const name of textMembers) addValue(count, body[name]);
  for (const name of toolMembers) if (body[name] !== undefined) addText(count, JSON.stringify(body[name]));
  const { meter, metered, length, tokens } = count;
  // What was not looked at will be like what was.
  return Math.round(tokens + (metered === 0 ? 0 : (meter.tokens / metered) * length));
}

type Count = {
  meter: TokenMeter;
  /** Of how many characters the meter knows. */
  metered: number;
  length: number;
  /** For what is no text. */
  tokens: number;
};

function addValue(count: Count, value: unknown): void {
  if (typeof value === "string") addText(count, value);
  // Embeddings take tokens, too.
  else if (typeof value === "number") count.tokens++;
  else if (Array.isArray(value)) for (const item of value) addValue(count, item);
  else if (isObject(value)) addObject(count, value);
}

function addObject(count: Count, object: Record<string, unknown>): void {
  if ("role" in object) count.tokens += messageTokens;
  for (const [name, value] of Object.entries(object)) {
    if (typeof value === "string" && markNames.has(name)) continue;
    if (attachmentNames.has(name)) count.tokens += attachmentTokens;
    else addValue(count, value);
  }
}

function addText(count: Count, text: string): void {
  const part = text.slice(0, Math.max(0, charactersMax - count.metered));
  count.meter.add(part);
  count.metered += part.length;
  count.length += text.length;
}

/** Where the dialects have what the model reads. */
const textMembers = ["system", "instructions", "messages", "input"];
const toolMembers = ["tools", "functions", "response_format"];

/** Texts that are not shown to the model, or are one token at most. */
const markNames = new Set([
  "role",
  "type",
  "id",
  "call_id",
  "tool_call_id",
  "tool_use_id",
  "item_id",
  "status",
  "signature",
  "encrypted_content",
  "detail",
  "media_type",
  "format",
]);

/** What is no text has some hundred to some thousand tokens, which nobody knows who cannot see it. */
const attachmentNames = new Set(["image_url", "input_audio", "file", "source", "file_data", "file_id"]);
const attachmentTokens = 1_000;

/** https://developers.openai.com/cookbook/examples/how_to_count_tokens_with_tiktoken */
const messageTokens = 3;

/** Some two milliseconds. */
const charactersMax = 262_144;
