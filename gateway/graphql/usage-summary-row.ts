import { averageLatencyMs, firstTokenPercentileMs, percentileMs } from "../usage/history/usage-overview.ts";
import type { UsageHistory } from "../usage/history/usage-history.ts";
import type { Builder } from "./builder.ts";
import type { UsageEnums } from "./usage-enums.ts";

type UsageSummary = Awaited<ReturnType<UsageHistory["summarize"]>>[number];

export function usageSummaryRowType(builder: Builder, { UsageStatus }: UsageEnums) {
  return builder.objectRef<UsageSummary>("UsageSummaryRow").implement({
    description: "Sums of usage. Dimensions that are not in `groupBy` are null.",
    fields: (t) => ({
      interval: t.field({
        type: "DateTime",
        nullable: true,
        description: "The start of the hour, day or month, in UTC.",
        resolve: ({ startsAt }) => startsAt ?? null,
      }),
      apiKeyId: t.exposeID("apiKeyId", { nullable: true }),
      apiKeyName: t.exposeString("apiKeyName", {
        nullable: true,
        description: "The key's current name, or its last name before deletion.",
      }),
      model: t.exposeString("model", { nullable: true }),
      provider: t.exposeString("provider", { nullable: true }),
      status: t.field({ type: UsageStatus, nullable: true, resolve: ({ status }) => status ?? null }),
      ownerId: t.exposeID("ownerId", {
        nullable: true,
        description: "The owner at the time of the request. Empty for keys without an owner.",
      }),
      ownerName: t.exposeString("ownerName", { nullable: true, description: "The owner's current name." }),
      clientTool: t.exposeString("clientTool", {
        nullable: true,
        description: `The coding tool. Empty for all other clients. ${isUnknown}`,
      }),
      errorReason: t.exposeString("errorReason", {
        nullable: true,
        description: `As in \`UsageRecord\`. Empty for requests without an error. ${isUnknown}`,
      }),
      requests: t.exposeInt("requests"),
      succeeded: t.int({ resolve: ({ outcomes }) => outcomes.SUCCEEDED }),
      failed: t.int({ resolve: ({ outcomes }) => outcomes.FAILED }),
      cancelled: t.int({ resolve: ({ outcomes }) => outcomes.CANCELLED }),
      interrupted: t.int({ resolve: ({ outcomes }) => outcomes.INTERRUPTED }),
      inputTokens: t.expose("inputTokens", { type: "BigInt" }),
      outputTokens: t.expose("outputTokens", { type: "BigInt" }),
      cachedInputTokens: t.expose("cachedInputTokens", { type: "BigInt" }),
      cacheWriteInputTokens: t.expose("cacheWriteInputTokens", { type: "BigInt" }),
      reasoningTokens: t.expose("reasoningTokens", { type: "BigInt" }),
      costUsd: t.field({
        type: "Decimal",
        nullable: true,
        description: "The cost of the priced requests in US dollars. Null if all are unpriced.",
        resolve: ({ cost, requests, unknownCosts }) =>
          requests > 0 && requests === unknownCosts ? null : cost,
      }),
      chargeUsd: t.field({
        type: "Decimal",
        nullable: true,
        description: "`costUsd` with the factors of each request's provider and key.",
        resolve: ({ cost, markup, requests, unknownCosts }) =>
          requests > 0 && requests === unknownCosts ? null : cost + markup,
      }),
      unknownCosts: t.exposeInt("unknownCosts", {
        description: "The number of unpriced requests, which `costUsd` omits.",
      }),
      averageLatencyMs: t.int({ nullable: true, resolve: averageLatencyMs }),
      p95LatencyMs: t.int({
        nullable: true,
        description: "The p95 latency, estimated from ten buckets.",
        resolve: ({ latencies }) => percentileMs(latencies, 0.95),
      }),
      p50DurationMs: t.int({
        nullable: true,
        description: "The median latency of successful requests, estimated from ten buckets.",
        resolve: ({ durations }) => percentileMs(durations, 0.5),
      }),
      p95DurationMs: t.int({
        nullable: true,
        description: "The p95 latency of successful requests. Null for fewer than 20.",
        resolve: ({ durations }) => percentileMs(durations, 0.95),
      }),
      p50TimeToFirstTokenMs: t.int({
        nullable: true,
        description:
          "The median time to first token. Null where it is unknown, as in sums of earlier releases.",
        resolve: (sum) => firstTokenPercentileMs(sum, 0.5),
      }),
      p95TimeToFirstTokenMs: t.int({
        nullable: true,
        description: "The p95 time to first token. Null for fewer than 20 known times.",
        resolve: (sum) => firstTokenPercentileMs(sum, 0.95),
      }),
    }),
  });
}

const isUnknown = "`unknown` in sums of earlier releases.";
