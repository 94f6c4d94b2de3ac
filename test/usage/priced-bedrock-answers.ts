import { frameAwsEvent } from "../helpers/frame-events.ts";
import type { PricedAnswer } from "./priced-answers.ts";

/**
 * Prices in US dollars per million tokens, from https://aws.amazon.com/bedrock/pricing/ in November 2026. `inputTokens`
 * excludes cache reads and writes: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 *
 * - Sonnet 4.5, regional: 3.30 input, 0.33 cache read, 4.125 (5 minutes) and 6.60 (1 hour) cache write, 16.50 output
 * - Sonnet 4.5, global, in the same order: 3, 0.30, 3.75, 6, 15
 * - Opus 5.5, global, in the same order: 4, 0.20, 5, 8, 20
 */
export const bedrock: PricedAnswer[] = [
  converse(regional(), { inputTokens: 1_000, outputTokens: 500 }, "0.01155"),
  // The sum of 3,300, 330, 4,125 and 16,500 millionths of a dollar.
  converse(
    regional(),
    { inputTokens: 1_000, cacheReadInputTokens: 1_000, ...written(1_000, 0), outputTokens: 1_000 },
    "0.024255",
  ),
  converse(regional(), { inputTokens: 1_000, ...written(0, 1_000), outputTokens: 0 }, "0.0099"),
  // 4,000 tokens at $4.125, 6,000 at $6.60 and 100 at $16.50 per million.
  converse(regional(), { inputTokens: 0, ...written(4_000, 6_000), outputTokens: 100 }, "0.05775"),
  // Without `cacheDetails`, all cache writes count as 5-minute writes.
  converse(regional(), { inputTokens: 10, cacheWriteInputTokens: 2_000, outputTokens: 10 }, "0.008448"),
  converse(global(), { inputTokens: 1_000, ...written(200, 100), outputTokens: 100 }, "0.00585"),
  converse(global(), { inputTokens: 5, cacheReadInputTokens: 20_000, outputTokens: 300 }, "0.010515"),
  converse(
    "global.anthropic.claude-opus-5-5",
    { inputTokens: 1_000, cacheReadInputTokens: 500, ...written(1_000, 1_000), outputTokens: 1_000 },
    "0.0371",
  ),
  // Without a flex price, the regular price applies as an upper bound.
  converse(regional(), { inputTokens: 1_000, outputTokens: 500 }, "0.01155", {
    serviceTier: { type: "flex" },
  }),
];

function regional(): string {
  return "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
}

function global(): string {
  return "global.anthropic.claude-sonnet-4-5-20250929-v1:0";
}

function written(fiveMinutes: number, oneHour: number) {
  return {
    cacheWriteInputTokens: fiveMinutes + oneHour,
    cacheDetails: [
      { ttl: "5m", inputTokens: fiveMinutes },
      { ttl: "1h", inputTokens: oneHour },
    ],
  };
}

function converse(model: string, usage: object, usd: string, beside: object = {}): PricedAnswer {
  return { model, usage, usd, beside };
}

export function converseAnswer({ usage, beside }: PricedAnswer): string {
  const message = { role: "assistant", content: [{ text: "Hi" }] };
  return JSON.stringify({
    metrics: { latencyMs: 5 },
    output: { message },
    stopReason: "end_turn",
    usage,
    ...beside,
  });
}

export function converseStream({ usage, beside }: PricedAnswer): Buffer {
  const events: [name: string, payload: object][] = [
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["messageStop", { stopReason: "end_turn" }],
    ["metadata", { metrics: { latencyMs: 5 }, usage, ...beside }],
  ];
  return Buffer.concat(events.map(([name, payload]) => frameAwsEvent(name, JSON.stringify(payload))));
}
