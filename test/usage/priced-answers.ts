/**
 * Usage in the vendor's format, and its cost, calculated by hand from the vendor's prices of November 2026. Comments
 * give prices in US dollars per million tokens, unless they name another unit.
 */
export type PricedAnswer = {
  model: string;
  usage: object;
  usd: string;
  /** Other members of the response, such as `service_tier`. */
  beside?: object;
};

/**
 * Prices of input, cache reads, 5-minute cache writes, 1-hour cache writes and output:
 * https://platform.claude.com/docs/en/about-claude/pricing. A batch costs half:
 * https://platform.claude.com/docs/en/build-with-claude/batch-processing.
 *
 * - Sonnet 4.5: 3, 0.30, 3.75, 6, 15, and above 200k tokens 6, 0.60, 7.50, 12, 22.50
 * - Opus 4.6: 5, 0.50, 6.25, 10, 25
 * - Haiku 4.5: 1, 0.10, 1.25, 2, 5
 */
export const anthropic: PricedAnswer[] = [
  sonnet({ input_tokens: 1_000, output_tokens: 500 }, "0.0105"),
  // The usage is from Claude's prompt caching guide. Its cost in millionths of a dollar is 63 + 705,322.5 + 5,895.
  sonnet({ input_tokens: 21, ...written(188_086, 0), output_tokens: 393 }, "0.7112805"),
  sonnet(
    { input_tokens: 2_048, cache_read_input_tokens: 1_800, ...written(148, 100), output_tokens: 503 },
    "0.015384",
  ),
  sonnet({ input_tokens: 250_000, output_tokens: 1_000 }, "1.5225"),
  sonnet({ input_tokens: 200_000, output_tokens: 1_000 }, "0.615"),
  sonnet({ input_tokens: 1, cache_read_input_tokens: 200_000, output_tokens: 0 }, "0.120006"),
  sonnet({ input_tokens: 100_000, ...written(0, 150_000), output_tokens: 2_000 }, "2.445"),
  // The usage is from Claude's web search guide. A thousand searches cost $10.
  sonnet(
    {
      input_tokens: 105,
      output_tokens: 6_039,
      cache_read_input_tokens: 7_123,
      cache_creation_input_tokens: 7_345,
      server_tool_use: { web_search_requests: 1 },
    },
    "0.13058065",
  ),
  sonnet({ input_tokens: 1_000, output_tokens: 500, service_tier: "batch" }, "0.00525"),
  sonnet({ input_tokens: 1_000, output_tokens: 500, service_tier: "priority" }, "0.0105"),
  sonnet(
    { input_tokens: 1_000, output_tokens: 3_000, output_tokens_details: { thinking_tokens: 2_500 } },
    "0.048",
  ),
  opus({ input_tokens: 300_000, output_tokens: 1_000 }, "1.525"),
  // For Opus 4.6, fast mode costs six times the standard price, and US-only inference 1.1 times.
  opus({ input_tokens: 1_000, output_tokens: 1_000, speed: "fast" }, "0.18"),
  opus({ input_tokens: 1_000, output_tokens: 1_000, inference_geo: "us" }, "0.033"),
  opus(
    {
      input_tokens: 1_000,
      cache_read_input_tokens: 1_000,
      output_tokens: 1_000,
      speed: "fast",
      inference_geo: "us",
    },
    "0.2013",
  ),
  {
    model: "claude-opus-4-8",
    usage: { input_tokens: 1_000, output_tokens: 1_000, speed: "fast" },
    usd: "0.06",
  },
  {
    model: "claude-haiku-4-5",
    usage: { input_tokens: 10, ...written(0, 5_000), cache_read_input_tokens: 20_000, output_tokens: 200 },
    usd: "0.01301",
  },
  {
    model: "claude-opus-4-5",
    usage: {
      input_tokens: 1_000,
      output_tokens: 1_000,
      service_tier: "standard",
      inference_geo: "not_available",
    },
    usd: "0.03",
  },
];

function sonnet(usage: object, usd: string): PricedAnswer {
  return { model: "claude-sonnet-4-5", usage, usd };
}

function opus(usage: object, usd: string): PricedAnswer {
  return { model: "claude-opus-4-6", usage, usd };
}

function written(fiveMinutes: number, oneHour: number) {
  return {
    cache_creation_input_tokens: fiveMinutes + oneHour,
    cache_creation: { ephemeral_5m_input_tokens: fiveMinutes, ephemeral_1h_input_tokens: oneHour },
  };
}

/**
 * Standard prices for input, cached input and output. See https://developers.openai.com/api/docs/pricing and
 * https://openai.com/api-fast-mode/. Flex costs half:
 * https://developers.openai.com/api/docs/guides/flex-processing.
 *
 * - gpt-4o: 2.50, 1.25, 10
 * - gpt-5: 1.25, 0.125, 10
 * - gpt-5.4: 2.50, 0.25, 15, and above 272k tokens 5, 0.50, 22.50
 * - gpt-5.5: 5, 0.50, 30
 * - gpt-5.6-sol: 4, 0.40, 20, and 5 for cache writes
 * - gpt-6.1-sol: 2, 0.10, 10, and above 272k tokens 4, 0.20, 15
 */
export const openai: PricedAnswer[] = [
  // The usage is from OpenAI's prompt caching guide. Its cost in millionths of a dollar is 215 + 2,400 + 3,000.
  chat("gpt-4o", { prompt_tokens: 2_006, cached: 1_920, completion_tokens: 300 }, "0.005615"),
  chat("gpt-4o", { prompt_tokens: 1_000, image_tokens: 700, completion_tokens: 100 }, "0.0035"),
  chat("gpt-5", { prompt_tokens: 1_000, completion_tokens: 2_000, reasoning: 1_500 }, "0.02125"),
  chat("gpt-5", { prompt_tokens: 1_000, completion_tokens: 2_000 }, "0.02125", "default"),
  chat("gpt-5", { prompt_tokens: 1_000, completion_tokens: 2_000 }, "0.010625", "flex"),
  chat("gpt-5", { prompt_tokens: 1_000, completion_tokens: 2_000 }, "0.0425", "priority"),
  chat("gpt-5", { prompt_tokens: 1_000, completion_tokens: 2_000 }, "0.0425", "fast"),
  chat("gpt-5-mini", { prompt_tokens: 1_000, cached: 400, completion_tokens: 1_000 }, "0.003888", "priority"),
  chat(
    "gpt-4o-mini",
    { prompt_tokens: 1_000, cached: 500, completion_tokens: 1_000 },
    "0.0011875",
    "priority",
  ),
  chat("gpt-4.1", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.0175", "priority"),
  chat("gpt-4.1-nano", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.001", "priority"),
  chat("o3", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.005", "flex"),
  // Tiers `priority` and `fast`: o3 3.50 input, 14 output; o4-mini 2 input, 0.50 cached, 8 output; gpt-4o-2024-05-13
  // 8.75 input, 26.25 output. See https://openai.com/api-priority-processing/
  chat("o3", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.0175", "priority"),
  chat("o4-mini", { prompt_tokens: 1_000, cached: 400, completion_tokens: 1_000 }, "0.0094", "priority"),
  chat("gpt-4o-2024-05-13", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.035", "fast"),
  chat("gpt-5.4", { prompt_tokens: 300_000, completion_tokens: 1_000 }, "1.5225"),
  chat("gpt-5.4", { prompt_tokens: 272_000, completion_tokens: 1_000 }, "0.695"),
  chat("gpt-5.4", { prompt_tokens: 272_001, completion_tokens: 1_000 }, "1.382505"),
  chat("gpt-5.4", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.035", "priority"),
  chat("gpt-5.4-mini", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.0105", "priority"),
  chat("gpt-5.1", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.0225", "priority"),
  // The standard prices are 1.75 for input and 14 for output.
  chat("gpt-5.2", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.007875", "flex"),
  chat("gpt-5.5", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.0875", "priority"),
  chat("gpt-5.5", { prompt_tokens: 1_000, completion_tokens: 1_000 }, "0.0175", "flex"),
  chat(
    "gpt-5.6-sol",
    { prompt_tokens: 10_000, cached: 2_000, written: 3_000, completion_tokens: 1_000 },
    "0.0558",
  ),
  // Prices of a long prompt in the tier `priority`: 16 input, 1.60 cached, 60 output.
  chat(
    "gpt-5.6-sol",
    { prompt_tokens: 300_000, cached: 100_000, completion_tokens: 1_000 },
    "3.42",
    "priority",
  ),
  chat("gpt-6.1-sol", { prompt_tokens: 1_000, cached: 600, completion_tokens: 100 }, "0.00186"),
  chat("gpt-6.1-sol", { prompt_tokens: 300_000, completion_tokens: 1_000 }, "0.6075", "flex"),
  // Text tokens cost 2.50 (input) and 10 (output), audio tokens 32 and 64.
  chat(
    "gpt-audio",
    { prompt_tokens: 1_000, audio_tokens: 800, completion_tokens: 500, audioOutput: 400 },
    "0.0527",
  ),
];

type ChatCounts = {
  prompt_tokens: number;
  completion_tokens: number;
  cached?: number;
  written?: number;
  image_tokens?: number;
  audio_tokens?: number;
  reasoning?: number;
  audioOutput?: number;
};

function chat(model: string, counts: ChatCounts, usd: string, tier?: string): PricedAnswer {
  const {
    prompt_tokens,
    completion_tokens,
    cached = 0,
    written: writes,
    reasoning = 0,
    audioOutput,
  } = counts;
  const { image_tokens, audio_tokens = 0 } = counts;
  const usage = {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens, cache_write_tokens: writes, image_tokens },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: audioOutput ?? 0 },
  };
  return { model, usage, usd, ...(tier && { beside: { service_tier: tier } }) };
}

const search = (action: string) => ({
  type: "web_search_call",
  id: "ws_1",
  status: "completed",
  action: { type: action },
});

/** A thousand searches cost $10. Opening a page is free. Token prices are listed at `openai`. */
export const responses: PricedAnswer[] = [
  // The usage is from OpenAI's API reference. Its cost in millionths of a dollar is 45 + 870.
  response("gpt-5", [36, 0, 87], "0.000915"),
  response("gpt-5", [1_000, 0, 500], "0.02625", {
    output: [search("search"), search("open_page"), search("search")],
  }),
  response("gpt-5", [328, 0, 52], "0.00186", { service_tier: "priority" }),
  response("gpt-5", [1_000, 0, 1_000], "0.005625", { service_tier: "flex" }),
  response("gpt-5.4", [300_000, 200_000, 1_000], "0.6225"),
  // gpt-6-sol: 2 input, 0.20 cached, 2.50 cache write, 10 output.
  response("gpt-6-sol", [5_000, 3_000, 200], "0.0071", {}, 1_000),
];

function response(
  model: string,
  [input, cached, output]: [number, number, number],
  usd: string,
  beside: object = {},
  writes?: number,
): PricedAnswer {
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: writes },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  return { model, usage, usd, beside };
}
