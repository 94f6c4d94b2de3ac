import type { Demand } from "../limits/rates/demand.ts";
import type { Route } from "../routing/catalogue.ts";
import { attachmentNames, attachmentTokens, textMembers } from "../usage/counting/estimate-input-tokens.ts";
import { isObject } from "../wire/json.ts";
import type { KeptConversation } from "./operation.ts";

/**
 * Describes the size and price of a request for the reservation of its cost. Null without a candidate.
 * @param kept the conversation that the request continues
 */
export function describeDemand(
  route: Route,
  body: Record<string, unknown>,
  bodyBytes: number,
  kept: KeptConversation = { bytes: 0, tokens: null },
): Demand | null {
  // The fallbacks' prices differ, but most requests do not need them.
  const candidate = route.candidates[0]?.[0];
  if (!candidate) return null;
  const isEmbedding = body["messages"] === undefined && candidate.prices.outputPrice === null;
  return {
    prices: candidate.prices,
    inputTokens: guessInputTokens(body, bodyBytes) + (kept.tokens ?? Math.ceil(kept.bytes / bytesPerToken)),
    outputTokensMax: isEmbedding ? 0 : readOutputMax(body),
  };
}

function readOutputMax(body: Record<string, unknown>): number | null {
  const limits = limitNames.map((name) => body[name]).filter((value) => typeof value === "number");
  if (limits.length === 0) return null;
  const choices = body["n"];
  return Math.min(...limits) * (typeof choices === "number" ? Math.max(1, choices) : 1);
}

const limitNames = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

/** Guesses a request's tokens from its bytes, without reading its texts. Attachments count a constant. */
function guessInputTokens(body: Record<string, unknown>, bodyBytes: number): number {
  if (bodyBytes < attachmentBytesMin) return Math.ceil(bodyBytes / bytesPerToken);
  const found: Attachments = { count: 0, length: 0 };
  for (const name of textMembers) findAttachments(found, body[name]);
  const textBytes = Math.max(0, bodyBytes - found.length);
  return Math.ceil(textBytes / bytesPerToken) + found.count * attachmentTokens;
}

type Attachments = { count: number; length: number };

function findAttachments(found: Attachments, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) findAttachments(found, item);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (!attachmentNames.has(name)) findAttachments(found, member);
      else {
        found.count++;
        found.length += lengthOf(member);
      }
    }
  }
}

/** The length of all texts in a value. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 0);
  return isObject(value) ? lengthOf(Object.values(value)) : 0;
}

/** English prose and JSON have about four bytes per token. */
const bytesPerToken = 4;
/** In smaller bodies, attachments do not change the estimate much. */
const attachmentBytesMin = 16 * 1024;
