import { GatewayError } from "../errors.ts";
import { isId } from "../ids.ts";
import type { Builder } from "./builder.ts";
import { usageEnums, type UsageEnums } from "./usage-enums.ts";
import { usageRecordType } from "./usage-record.ts";
import type { UsageHistory, UsageCriteria } from "../usage/history/usage-history.ts";
import { averageLatencyMs, percentileMs } from "../usage/history/latency.ts";

export function addUsageQueries(builder: Builder): void {
  const enums = usageEnums(builder);
  const filter = usageFilterType(builder, enums);
  const UsageRecord = usageRecordType(builder, enums);
  const UsageSummaryRow = usageSummaryRowType(builder, enums);
  const connection = builder.connectionObject(
    { type: UsageRecord, name: "UsageRecordConnection" },
    { name: "UsageRecordEdge" },
  );

  builder.queryFields((t) => ({
    usageRecords: t.field({
      type: connection,
      description: "Newest first.",
      args: {
        filter: t.arg({ type: filter }),
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string({ description: "The `cursor` of an edge." }),
      },
      async resolve(_root, args, { services: { usageHistory, limits }, person }) {
        const first = args.first ?? 50;
        if (first < 1 || first > limits.usageRecordsPerPageMax) {
          throw new GatewayError(
            "invalid_value",
            `first must be between 1 and ${limits.usageRecordsPerPageMax}.`,
            {
              param: "first",
            },
          );
        }
        const after = args.after ?? undefined;
        // A cursor is the ID of the previous record.
        if (after !== undefined && !isId("req", after)) {
          throw new GatewayError("invalid_value", "after is not a valid cursor.", { param: "after" });
        }
        const page = await usageHistory.list(person, toCriteria(args.filter), { first, after });
        return {
          edges: page.records.map((node) => ({ cursor: node.id, node })),
          pageInfo: {
            hasNextPage: page.hasMore,
            hasPreviousPage: false,
            startCursor: page.records[0]?.id,
            endCursor: page.records.at(-1)?.id,
          },
        };
      },
    }),
    usageRecord: t.field({
      type: UsageRecord,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve: (_root, { id }, { services, person }) => services.usageHistory.get(person, String(id)),
    }),
    usageSummary: t.field({
      type: [UsageSummaryRow],
      description:
        "Sums by dimension and interval, over the records that `usageRecords` returns for the same filter.",
      args: {
        filter: t.arg({ type: filter }),
        groupBy: t.arg({ type: [enums.UsageDimension], required: true }),
        interval: t.arg({ type: enums.UsageInterval }),
      },
      resolve(_root, args, { services, person }) {
        const groupBy = [...new Set(args.groupBy)];
        return services.usageHistory.summarize(person, toCriteria(args.filter), {
          groupBy,
          interval: args.interval ?? null,
        });
      },
    }),
  }));
}

function usageFilterType(builder: Builder, { UsageStatus }: UsageEnums) {
  return builder.inputType("UsageFilter", {
    description: "A filter. Records must match all given fields.",
    fields: (t) => ({
      apiKeyId: t.id(),
      model: t.string({
        description: "The `model` of the records. An empty string selects records without a model.",
      }),
      provider: t.string({ description: "A provider's name." }),
      status: t.field({ type: UsageStatus }),
      from: t.field({ type: "DateTime", description: "Requests made at or after this time." }),
      to: t.field({ type: "DateTime", description: "Requests made before this time." }),
    }),
  });
}

/** A missing filter and null are equal. */
function toCriteria(filter: GivenFilter | null | undefined): UsageCriteria {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as UsageCriteria;
}

type GivenFilter = { [Name in keyof UsageCriteria]: UsageCriteria[Name] | null };

type UsageSum = Awaited<ReturnType<UsageHistory["summarize"]>>[number];

function usageSummaryRowType(builder: Builder, { UsageStatus }: UsageEnums) {
  return builder.objectRef<UsageSum>("UsageSummaryRow").implement({
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
      requests: t.exposeInt("requests"),
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
      unknownCosts: t.exposeInt("unknownCosts", {
        description: "The number of unpriced requests, which `costUsd` omits.",
      }),
      averageLatencyMs: t.int({ nullable: true, resolve: averageLatencyMs }),
      p95LatencyMs: t.int({
        nullable: true,
        description: "The p95 latency, estimated from ten buckets.",
        resolve: ({ latencies }) => percentileMs(latencies, 0.95),
      }),
    }),
  });
}
