import { isObject } from "./json.ts";

/**
 * Details that affect the cost, besides the counts of `TokenUsage`. A missing count means 0. A missing tier, speed
 * or region means the provider's default.
 */
export type UsageDetails = {
  cacheWrite1hTokens?: number;
  /** Includes `cachedImageInputTokens`, as `audioInputTokens` includes `cachedAudioInputTokens`. */
  imageInputTokens?: number;
  cachedImageInputTokens?: number;
  audioInputTokens?: number;
  cachedAudioInputTokens?: number;
  imageOutputTokens?: number;
  audioOutputTokens?: number;
  webSearches?: number;
  /** `flex`, `priority`, `batch` and others, in lower case. */
  serviceTier?: string;
  speed?: string;
  region?: string;
  /** The cost reported by the provider, in nano-dollars. */
  providerCost?: number;
};

/** Omits missing details and counts of 0. Undefined if no detail remains, as for most responses. */
export function usageDetails(given: UsageDetails): UsageDetails | undefined {
  let details: UsageDetails | undefined;
  for (const name in given) {
    const value = given[name as keyof UsageDetails];
    // Unlike a count of 0, a cost of 0 differs from a missing cost.
    if (value === undefined || (value === 0 && name !== "providerCost")) continue;
    details = { ...details, [name]: value };
  }
  return details;
}

/** `fast` is OpenAI's new name for `priority`: https://developers.openai.com/api/docs/guides/fast-mode */
export function readTier(value: unknown): string | undefined {
  const name = readTerm(value);
  return name === "fast" ? "priority" : name;
}

/** Returns a name in lower case, or undefined for a default or invalid value. */
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

export function readCount(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 2 ** 31 - 1
    ? (value as number)
    : undefined;
}

/** @param searches the number of web searches, if `usage` does not count them */
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

/** Supports the formats of OpenRouter, Anthropic and xAI. */
function readSearches(usage: Record<string, unknown>): number | undefined {
  const tools = objectOf(usage["server_tool_use"] ?? usage["server_tool_use_details"]);
  const xai = objectOf(usage["server_side_tool_usage_details"]);
  return readCount(tools["web_search_requests"]) ?? readCount(xai["web_search_calls"]);
}

/**
 * Reads the provider's reported cost, in nano-dollars. OpenRouter has `cost`, Perplexity
 * `cost.total_cost`, DeepInfra `estimated_cost`, xAI `cost_in_usd_ticks` of 10⁻¹⁰ dollars.
 */
function readProviderCost(usage: Record<string, unknown>): number | undefined {
  const { cost, estimated_cost: estimated, cost_in_usd_ticks: ticks } = usage;
  if (typeof ticks === "number") return toNano(ticks / 10);
  const dollars = isObject(cost) ? cost["total_cost"] : (cost ?? estimated);
  if (typeof dollars !== "number") return undefined;
  // With the customer's own key, `cost` contains only OpenRouter's fee.
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

/**
 * Merges the usage reports of an Anthropic answer: `message_start` and `message_delta` contain one each. Counts
 * are running totals, so the largest is the latest. A count is null if no report contains it. The result is null if both
 * the input and the output count are missing.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function readMessagesUsage(...reports: unknown[]) {
  const values = (name: string) => reports.map((report) => memberOf(report, name));
  const count = (name: string) => largest(values(name));
  const [input, output] = [count("input_tokens"), count("output_tokens")];
  if (input === null && output === null) return null;
  const within = (name: string, inner: string) =>
    largest(values(name).map((value) => memberOf(value, inner)));
  const term = (name: string) => values(name).findLast((value) => typeof value === "string");
  return {
    /** Excludes tokens read from or written to a cache. */
    input,
    cached: count("cache_read_input_tokens"),
    cacheWrite: count("cache_creation_input_tokens"),
    output,
    reasoning: within("output_tokens_details", "thinking_tokens"),
    details: usageDetails({
      cacheWrite1hTokens: within("cache_creation", "ephemeral_1h_input_tokens") ?? 0,
      webSearches: within("server_tool_use", "web_search_requests") ?? 0,
      serviceTier: readTier(term("service_tier")),
      speed: readTerm(term("speed")),
      region: readTerm(term("inference_geo")),
    }),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : null;
}

function largest(values: unknown[]): number | null {
  const counts = values.flatMap((value) => readCount(value) ?? []);
  return counts.length > 0 ? Math.max(...counts) : null;
}

/** Token counts of one answer. Null means not reported. */
export type TokenUsage = {
  inputTokens: number | null;
  outputTokens: number | null;
  cachedInputTokens: number | null;
  cacheWriteInputTokens: number | null;
  reasoningTokens: number | null;
  details?: UsageDetails | undefined;
};

/** Reads the counts of a chat completion's `usage`. Ignores invalid counts, which some upstreams send. */
export function readTokenUsage(usage: unknown, details?: UsageDetails): TokenUsage | null {
  if (!isObject(usage)) return null;
  const input = isObject(usage["prompt_tokens_details"]) ? usage["prompt_tokens_details"] : {};
  const output = isObject(usage["completion_tokens_details"]) ? usage["completion_tokens_details"] : {};
  return {
    inputTokens: toCount(usage["prompt_tokens"]),
    outputTokens: toCount(usage["completion_tokens"]),
    // `prompt_cache_hit_tokens` is DeepSeek's name.
    cachedInputTokens: toCount(input["cached_tokens"] ?? usage["prompt_cache_hit_tokens"]),
    cacheWriteInputTokens: toCount(input["cache_write_tokens"]),
    reasoningTokens: toCount(output["reasoning_tokens"]),
    ...(details && { details }),
  };
}

export function readChatUsage(usage: unknown, serviceTier: unknown): TokenUsage | null {
  return isObject(usage) ? readTokenUsage(usage, readChatDetails(usage, serviceTier)) : null;
}

export function embeddingsUsage(inputTokens: number | null): TokenUsage {
  return {
    inputTokens: toCount(inputTokens),
    outputTokens: 0,
    cachedInputTokens: null,
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  };
}

function toCount(value: unknown): number | null {
  return readCount(value) ?? null;
}
