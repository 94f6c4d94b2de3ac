import { isObject } from "../../wire/json.ts";
import { TokenMeter } from "./token-meter.ts";

/** Estimates a request's tokens in any dialect: its texts, plus a constant for each message and each attachment. */
export function estimateInputTokens(body: Record<string, unknown>): number {
  const count: Count = { meter: new TokenMeter(), metered: 0, length: 0, tokens: 0 };
  for (const name of textMembers) addValue(count, body[name]);
  for (const name of toolMembers) if (body[name] !== undefined) addText(count, JSON.stringify(body[name]));
  const { meter, metered, length, tokens } = count;
  // The estimate extrapolates from the sampled part.
  return Math.round(tokens + (metered === 0 ? 0 : (meter.tokens / metered) * length));
}

type Count = {
  meter: TokenMeter;
  /** The number of sampled characters. */
  metered: number;
  length: number;
  /** Tokens that do not come from text. */
  tokens: number;
};

function addValue(count: Count, value: unknown): void {
  if (typeof value === "string") addText(count, value);
  // Embeddings accept token arrays.
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

export const textMembers = ["system", "instructions", "messages", "input"];
const toolMembers = ["tools", "functions", "response_format"];

/** The text of these members is not part of the prompt, or costs about one token. */
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

/** Attachments are not decoded, so their exact token counts are unknown. */
export const attachmentNames = new Set([
  "image_url",
  "input_audio",
  "file",
  "source",
  "file_data",
  "file_id",
]);
export const attachmentTokens = 1_000;

/** https://developers.openai.com/cookbook/examples/how_to_count_tokens_with_tiktoken */
const messageTokens = 3;

/** Sampling this much text takes about two milliseconds. */
const charactersMax = 262_144;
