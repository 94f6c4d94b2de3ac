import { isObject } from "./json.ts";

/** What a cost depends on besides the usual counts. A missing count is 0, a missing term is the usual one. */
export type UsageDetails = {
  /** Part of the tokens written to a cache. */
  cacheWrite1hTokens?: number;
  /** Parts of the input, cached tokens included. */
  imageInputTokens?: number;
  cachedImageInputTokens?: number;
  audioInputTokens?: number;
  cachedAudioInputTokens?: number;
  /** Parts of the output. */
  imageOutputTokens?: number;
  audioOutputTokens?: number;
  webSearches?: number;
  /** `flex`, `priority`, `batch` and others, in lower case. */
  serviceTier?: string;
  speed?: string;
  region?: string;
  /** The provider's own figure, in nano-dollars. */
  providerCost?: number;
};

/** The details with a value. Undefined without any, as for most responses. */
export function usageDetails(given: UsageDetails): UsageDetails | undefined {
  let details: UsageDetails | undefined;
  for (const name in given) {
    const value = given[name as keyof UsageDetails];
    // A cost of 0 is a cost.
    if (value === undefined || (value === 0 && name !== "providerCost")) continue;
    details = { ...details, [name]: value };
  }
  return details;
}

/**
 * A service tier, speed or region. Undefined for the usual one. OpenAI's `fast` is the new name of `priority`:
 * https://developers.openai.com/api/docs/guides/fast-mode
 */
export function readTier(value: unknown): string | undefined {
  const name = readTerm(value);
  return name === "fast" ? "priority" : name;
}

/** As `readTier`, for speeds and regions. */
export function readTerm(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^[\w-]{1,32}$/.test(value)) return undefined;
  const name = value.toLowerCase();
  return usualTerms.has(name) ? undefined : name;
}

const usualTerms = new Set([
  "auto",
  "default",
  "standard",
  "standard_only",
  "on_demand",
  "traffic_type_unspecified",
  "service_tier_unspecified",
  "unspecified",
  "global",
  "not_available",
]);

/** A count, or undefined for anything else. */
export function readCount(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 2 ** 31 - 1
    ? (value as number)
    : undefined;
}

/**
 * Reads the details of the `usage` of a chat completion or a response.
 * @param searches the number of web searches, if `usage` does not count them
 */
export function readChatDetails(
  usage: Record<string, unknown>,
  serviceTier: unknown,
  searches = 0,
): UsageDetails | undefined {
  const input = objectOf(usage["prompt_tokens_details"] ?? usage["input_tokens_details"]);
  const output = objectOf(usage["completion_tokens_details"] ?? usage["output_tokens_details"]);
  const cached = objectOf(input["cached_tokens_details"]);
  return usageDetails({
    imageInputTokens: readCount(input["image_tokens"]),
    cachedImageInputTokens: readCount(cached["image_tokens"]),
    audioInputTokens: readCount(input["audio_tokens"]),
    cachedAudioInputTokens: readCount(cached["audio_tokens"]),
    imageOutputTokens: readCount(output["image_tokens"]),
    audioOutputTokens: readCount(output["audio_tokens"]),
    webSearches: readSearches(usage) ?? searches,
    serviceTier: readTier(serviceTier ?? usage["service_tier"]),
    providerCost: readProviderCost(usage),
  });
}

/** OpenRouter and Anthropic, xAI. */
function readSearches(usage: Record<string, unknown>): number | undefined {
  const tools = objectOf(usage["server_tool_use"] ?? usage["server_tool_use_details"]);
  const xai = objectOf(usage["server_side_tool_usage_details"]);
  return readCount(tools["web_search_requests"]) ?? readCount(xai["web_search_calls"]);
}

/**
 * The provider's own cost in US dollars, as nano-dollars. OpenRouter has `cost`, Perplexity `cost.total_cost`, DeepInfra
 * `estimated_cost`, xAI `cost_in_usd_ticks` of 10⁻¹⁰ dollars.
 */
function readProviderCost(usage: Record<string, unknown>): number | undefined {
  const { cost, estimated_cost: estimated, cost_in_usd_ticks: ticks } = usage;
  if (typeof ticks === "number") return toNano(ticks / 10);
  const dollars = isObject(cost) ? cost["total_cost"] : (cost ?? estimated);
  if (typeof dollars !== "number") return undefined;
  // With one's own key at OpenRouter, `cost` is only its fee.
  const upstream = usage["is_byok"] === true ? objectOf(usage["cost_details"])["upstream_inference_cost"] : 0;
  return toNano((dollars + (typeof upstream === "number" ? upstream : 0)) * 1e9);
}

function toNano(value: number): number | undefined {
  const nano = Math.round(value);
  return nano >= 0 && nano <= Number.MAX_SAFE_INTEGER ? nano : undefined;
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
