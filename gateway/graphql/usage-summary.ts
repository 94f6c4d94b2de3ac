import { averageLatencyMs, percentileMs } from "../usage/history/latency.ts";
import type { UsageHistory } from "../usage/history/usage-history.ts";
import type { Builder } from "./builder.ts";
import type { UsageEnums } from "./usage-enums.ts";

type UsageSum = Awaited<ReturnType<UsageHistory["summarize"]>>[number];

export function usageSummaryRowType(builder: Builder, { UsageStatus }: UsageEnums) {
  return builder.objectRef<UsageSum>("UsageSummaryRow").implement({
    description: "Sums of usage. What it is not grouped by is null.",
    fields: (t) => ({
      interval: t.field({
        type: "DateTime",
        nullable: true,
        description: "The first moment of the hour, day or month, in UTC.",
        resolve: ({ startsAt }) => startsAt ?? null,
      }),
      apiKeyId: t.exposeID("apiKeyId", { nullable: true }),
      apiKeyName: t.exposeString("apiKeyName", {
        nullable: true,
        description: "As the key is called today, or was when it was deleted.",
      }),
      model: t.exposeString("model", { nullable: true }),
      provider: t.exposeString("provider", { nullable: true }),
      status: t.field({ type: UsageStatus, nullable: true, resolve: ({ status }) => status ?? null }),
      requests: t.exposeInt("requests"),
      inputTokens: t.expose("inputTokens", { type: "BigInt" }),
      outputTokens: t.expose("outputTokens", { type: "BigInt" }),
      cachedInputTokens: t.expose("cachedInputTokens", { type: "BigInt" }),
      cacheWriteInputTokens: t.expose("cacheWriteInputTokens", { type: "BigInt" }),
      reasoningTokens: t.expose("reasoningTokens", { type: "BigInt" }),
      costUsd: t.field({
        type: "Decimal",
        nullable: true,
        description: "US dollars, of the requests whose cost is known; null when it is known of none.",
        resolve: ({ cost, requests, unknownCosts }) =>
          requests > 0 && requests === unknownCosts ? null : cost,
      }),
      unknownCosts: t.exposeInt("unknownCosts", {
        description:
          "How many of the requests have a cost that is not known: they are left out of `costUsd`.",
      }),
      averageLatencyMs: t.int({ nullable: true, resolve: averageLatencyMs }),
      p95LatencyMs: t.int({
        nullable: true,
        description: "What 95 % of the requests took at most, estimated from counts in ten ranges.",
        resolve: ({ latencies }) => percentileMs(latencies, 0.95),
      }),
    }),
  });
}
