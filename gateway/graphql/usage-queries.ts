import { type FieldNode, Kind } from "graphql";
import { countNames, dimensionNames } from "../usage/usage-fields.ts";
import { GatewayError } from "../errors.ts";
import { isId } from "../ids.ts";
import { type Builder, dimensionType, usageEnums, type UsageEnums } from "./builder.ts";
import { dimensionWords } from "./usage-dimensions.ts";
import { usageRecordType } from "./usage-record.ts";
import type { UsageCriteria, UsageHistory } from "../usage/history/usage-history.ts";
import { averageLatencyMs, firstTokenPercentileMs, percentileMs } from "../usage/history/usage-overview.ts";

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
          const message = `first is ${first}. Use a number from 1 to ${limits.usageRecordsPerPageMax}.`;
          throw new GatewayError("invalid_value", message, { param: "first" });
        }
        const after = args.after ?? undefined;
        // A cursor is the ID of its edge's record.
        if (after !== undefined && !isId("req", after)) {
          throw new GatewayError("invalid_value", "after is not a valid cursor. Use the cursor of an edge.", {
            param: "after",
          });
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
      resolve(_root, args, { services, person }, { fieldNodes }) {
        const groupBy = [...new Set(args.groupBy)];
        return services.usageHistory.summarize(person, toCriteria(args.filter), {
          groupBy,
          interval: args.interval ?? null,
          isWithoutTimes: !fieldNodes.some(mayWantTimes),
        });
      },
    }),
  }));
}

function usageFilterType(builder: Builder, enums: UsageEnums) {
  return builder.inputType("UsageFilter", {
    description: "A filter. Records must match all given fields.",
    fields: (t) => ({
      ...Object.fromEntries(
        dimensionNames.map((name) => [
          name,
          t.field({ type: dimensionType(name, enums), description: dimensionWords[name].filter }),
        ]),
      ),
      statuses: t.field({ type: [enums.UsageStatus], description: "Records with one of these statuses." }),
      httpStatusClass: t.int({
        description: "The first digit of the HTTP status, such as 5. Not for `usageSummary`.",
      }),
      minLatencyMs: t.int({
        description: "Requests that took at least this time. Not for `usageSummary`.",
      }),
      from: t.field({ type: "DateTime", description: "Requests made at or after this time." }),
      to: t.field({ type: "DateTime", description: "Requests made before this time." }),
    }),
  });
}

/** Whether a field may select percentiles. Assumes that every fragment contains percentiles. */
function mayWantTimes({ selectionSet }: FieldNode): boolean {
  return (selectionSet?.selections ?? []).some(
    (selection) => selection.kind !== Kind.FIELD || /^p\d/.test(selection.name.value),
  );
}

function toCriteria(filter: GivenFilter | null | undefined): UsageCriteria {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as UsageCriteria;
}

type GivenFilter = { [Name in keyof UsageCriteria]: UsageCriteria[Name] | null };

type UsageSummary = Awaited<ReturnType<UsageHistory["summarize"]>>[number];

function usageSummaryRowType(builder: Builder, enums: UsageEnums) {
  return builder.objectRef<UsageSummary>("UsageSummaryRow").implement({
    description: "Sums of usage. Dimensions that are not in `groupBy` are null.",
    fields: (t) => ({
      interval: t.field({
        type: "DateTime",
        nullable: true,
        description: "The start of the hour, day or month, in UTC.",
        resolve: ({ startsAt }) => startsAt ?? null,
      }),
      ...Object.fromEntries(
        dimensionNames.map((name) => [
          name,
          t.field({
            type: dimensionType(name, enums),
            nullable: true,
            description: dimensionWords[name].row,
            resolve: (row) => row[name] ?? null,
          }),
        ]),
      ),
      ...Object.fromEntries(countNames.map((name) => [name, t.expose(name, { type: "BigInt" })])),
      apiKeyName: t.exposeString("apiKeyName", {
        nullable: true,
        description: "The key's current name, or its last name before deletion.",
      }),
      ownerName: t.exposeString("ownerName", { nullable: true, description: "The owner's current name." }),
      teamName: t.exposeString("teamName", { nullable: true, description: "The team's current name." }),
      requests: t.exposeInt("requests"),
      succeeded: t.int({ resolve: ({ outcomes }) => outcomes.SUCCEEDED }),
      failed: t.int({ resolve: ({ outcomes }) => outcomes.FAILED }),
      cancelled: t.int({ resolve: ({ outcomes }) => outcomes.CANCELLED }),
      interrupted: t.int({ resolve: ({ outcomes }) => outcomes.INTERRUPTED }),
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
        description: "The median time to first token. Null if no time is known.",
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
