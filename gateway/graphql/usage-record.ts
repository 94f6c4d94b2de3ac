import { countNames, dimensionNames, isOptional } from "../usage/usage-fields.ts";
import { can } from "../auth/permissions.ts";
import type { LimitHolder } from "../errors.ts";
import type { OwnedRecord } from "../usage/history/usage-history.ts";
import type { AttemptTiming, RequestTiming } from "../usage/recording/usage-recorder.ts";
import { linesOfRecord } from "../usage/counting/cost.ts";
import { type Builder, dimensionType, type UsageEnums } from "./builder.ts";
import { dimensionWords } from "./usage-dimensions.ts";

export function usageRecordType(builder: Builder, enums: UsageEnums) {
  const CostLine = costLineType(builder);
  const RequestTiming = requestTimingType(builder);
  return builder.objectRef<OwnedRecord>("UsageRecord").implement({
    description: "A request with an API key. Its ID is the `x-request-id` of the response.",
    fields: (t) => ({
      id: t.exposeID("id"),
      createdAt: t.expose("createdAt", { type: "DateTime" }),
      ...Object.fromEntries(
        dimensionNames.map((name) => [
          name,
          t.field({
            type: dimensionType(name, enums),
            nullable: isOptional(name),
            description: dimensionWords[name].record,
            // The field is nullable if the column is.
            resolve: (record) => record[name] as string,
          }),
        ]),
      ),
      ...Object.fromEntries(countNames.map((name) => [name, t.exposeInt(name, { nullable: true })])),
      apiKeyName: t.exposeString("apiKeyName", { description: "The key's name at the time of the request." }),
      ownerName: t.exposeString("ownerName", { nullable: true, description: "The owner's current name." }),
      teamName: t.exposeString("teamName", { nullable: true, description: "The team's current name." }),
      upstreamModel: t.exposeString("upstreamModel", { nullable: true }),
      credentialId: t.id({
        nullable: true,
        description: "The provider's credential. Visible to administrators only.",
        resolve: ({ credentialId }, _args, { person }) =>
          can(person, "credentials.ofRequests") ? credentialId : null,
      }),
      attempts: t.exposeInt("attempts", { description: "The number of upstream calls." }),
      endpoint: t.exposeString("endpoint"),
      stream: t.exposeBoolean("stream"),
      httpStatus: t.exposeInt("httpStatus"),
      errorCode: t.exposeString("errorCode", { nullable: true }),
      limitedBy: t.field({
        type: enums.LimitScope,
        nullable: true,
        description:
          "The holder of the limit or budget that rejected the request. Null for any other outcome.",
        resolve: ({ limitedBy }) => limitedBy as LimitHolder | null,
      }),
      dropped: t.exposeString("dropped", {
        nullable: true,
        description:
          "The parts of the request that the model's provider does not support and the gateway left out, such as `tools.web_search`.",
      }),
      estimated: t.exposeBoolean("estimated", {
        description: "Whether the gateway estimated a count that the upstream did not report.",
      }),
      costUsd: t.field({
        type: "Decimal",
        nullable: true,
        description:
          "The cost in US dollars, at the prices when the request was made. Null for an unknown price or count. 0 if no provider received or accepted the request.",
        resolve: ({ cost }) => toBigInt(cost),
      }),
      ...Object.fromEntries(
        (["inputPrice", "cachedInputPrice", "cacheWritePrice", "outputPrice"] as const).map((name) => [
          `${name}Usd`,
          t.field({
            type: "Decimal",
            nullable: true,
            description: "US dollars per million tokens, as used for the cost.",
            resolve: (record) => toBigInt(record[name]),
          }),
        ]),
      ),
      costLines: t.field({
        type: [CostLine],
        description: "The calculation of the cost at the model's prices. Empty without counts or prices.",
        resolve: linesOfRecord,
      }),
      costSource: t.string({
        description: "`provider` if the cost is the provider's own figure, otherwise `prices`.",
        resolve: ({ costDetails }) => costDetails?.source ?? "prices",
      }),
      providerCostUsd: t.field({
        type: "Decimal",
        nullable: true,
        description: "The cost in US dollars as the provider reported it.",
        resolve: ({ providerCost }) => toBigInt(providerCost),
      }),
      leastCostUsd: t.field({
        type: "Decimal",
        nullable: true,
        description:
          "The amount that budgets count for an unpriced request: its known parts at the usual price, in US dollars. Null for a priced one.",
        resolve: ({ cost, costDetails }) => (cost === null ? BigInt(costDetails?.least ?? 0) : null),
      }),
      chargeFactor: t.float({
        description: "The factors of the provider and the key, multiplied.",
        resolve: ({ costDetails }) => costDetails?.factor ?? 1,
      }),
      chargeUsd: t.field({
        type: "Decimal",
        nullable: true,
        description: "The cost with the factors of the provider and the key. Budgets count the cost.",
        resolve: ({ cost, markup }) => (cost === null ? null : BigInt(cost) + BigInt(markup)),
      }),
      latencyMs: t.exposeInt("latencyMs"),
      timeToFirstTokenMs: t.exposeInt("timeToFirstTokenMs", { nullable: true }),
      timing: t.expose("timing", {
        type: RequestTiming,
        nullable: true,
        description:
          "The phases before the last attempt. Null for a request that started its only attempt at once.",
      }),
    }),
  });
}

function requestTimingType(builder: Builder) {
  const AttemptTiming = builder.objectRef<AttemptTiming>("AttemptTiming").implement({
    description: "One call of a provider. Times are milliseconds since the request began.",
    fields: (t) => ({
      provider: t.exposeString("provider"),
      model: t.exposeString("model", { description: "The provider's name of the model." }),
      startMs: t.exposeInt("startMs"),
      durationMs: t.exposeInt("durationMs"),
      failure: t.exposeString("failure", {
        nullable: true,
        description:
          "The reason why the next attempt followed, such as `http_429`. Null for the attempt that decided the outcome.",
      }),
    }),
  });
  return builder.objectRef<RequestTiming>("RequestTiming").implement({
    description: "The phases of a request before its last attempt.",
    fields: (t) => ({
      receivedMs: t.exposeInt("receivedMs", {
        description:
          "Milliseconds until the request body had arrived. A queue and a look-up of limits follow.",
      }),
      attempts: t.field({
        type: [AttemptTiming],
        description: "The first eight attempts, in order.",
        resolve: ({ attempts }) => attempts,
      }),
    }),
  });
}

function costLineType(builder: Builder) {
  return builder.objectRef<ReturnType<typeof linesOfRecord>[number]>("CostLine").implement({
    description: "A part of a cost. The amounts of all lines add up to the cost at the model's prices.",
    fields: (t) => ({
      component: t.exposeString("component", {
        description: "Such as `input`, `cacheWrite1h` or `webSearch`.",
      }),
      quantity: t.exposeInt("quantity", { description: "Tokens, searches or requests." }),
      priceUsd: t.field({
        type: "Decimal",
        nullable: true,
        description: "US dollars per million. Null for an unknown price.",
        resolve: ({ price }) => toBigInt(price),
      }),
      amountUsd: t.field({
        type: "Decimal",
        nullable: true,
        resolve: ({ amount }) => toBigInt(amount),
      }),
      when: t.string({
        nullable: true,
        description: "The conditions that set the price, such as `input above 200000`.",
        resolve: ({ when }) => when ?? null,
      }),
    }),
  });
}

function toBigInt(value: number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
