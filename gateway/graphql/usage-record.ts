import type { LimitHolder } from "../errors.ts";
import type { OwnedRecord } from "../usage/history/usage-history.ts";
import type { Builder } from "./builder.ts";
import type { UsageEnums } from "./usage-enums.ts";

/** A request in the history: counts, names, times and outcome, never content. */
export function usageRecordType(builder: Builder, { UsageStatus, LimitScope }: UsageEnums) {
  return builder.objectRef<OwnedRecord>("UsageRecord").implement({
    description: "One request that was made with an API key. Its id is the `x-request-id` of the response.",
    fields: (t) => ({
      id: t.exposeID("id"),
      createdAt: t.expose("createdAt", { type: "DateTime" }),
      apiKeyId: t.exposeID("apiKeyId"),
      apiKeyName: t.exposeString("apiKeyName", { description: "As it was called then." }),
      ownerId: t.exposeID("ownerId", { nullable: true, description: "Whose key it was then." }),
      ownerName: t.exposeString("ownerName", { nullable: true, description: "As the owner is called now." }),
      model: t.exposeString("model", {
        description:
          "The model that was asked for: a slug, or what stood in its place. Empty where none was named, or none that could be kept: a text, a key, or one of many unknown names.",
      }),
      provider: t.exposeString("provider", {
        description: "Who answered, or was asked last without an answer; empty where nobody was.",
      }),
      upstreamModel: t.exposeString("upstreamModel", { nullable: true }),
      credentialId: t.id({
        nullable: true,
        description: "Which of the provider's credentials was used; only administrators are told.",
        resolve: ({ credentialId }, _args, { person }) => (person.role === "admin" ? credentialId : null),
      }),
      attempts: t.exposeInt("attempts", { description: "How many times an upstream was called." }),
      endpoint: t.exposeString("endpoint"),
      clientTool: t.exposeString("clientTool", {
        nullable: true,
        description: "The coding tool that asked.",
      }),
      stream: t.exposeBoolean("stream"),
      status: t.expose("status", { type: UsageStatus }),
      httpStatus: t.exposeInt("httpStatus"),
      errorCode: t.exposeString("errorCode", { nullable: true }),
      limitedBy: t.field({
        type: LimitScope,
        nullable: true,
        description: "Whose limit or budget refused the request; null however else it ended.",
        resolve: ({ limitedBy }) => limitedBy as LimitHolder | null,
      }),
      errorReason: t.exposeString("errorReason", {
        nullable: true,
        description:
          "What `errorCode` leaves open, in the gateway's own words: which limit refused the request, such as `tokens_per_minute` or `budget_per_day`; how the provider failed, such as `connection_refused`, `private_address`, `idle_timeout`, or `http_503` for the HTTP status it answered with. Null where the code says it all.",
      }),
      inputTokens: t.exposeInt("inputTokens", { nullable: true }),
      outputTokens: t.exposeInt("outputTokens", { nullable: true }),
      cachedInputTokens: t.exposeInt("cachedInputTokens", { nullable: true }),
      cacheWriteInputTokens: t.exposeInt("cacheWriteInputTokens", { nullable: true }),
      reasoningTokens: t.exposeInt("reasoningTokens", { nullable: true }),
      estimated: t.exposeBoolean("estimated", {
        description: "Whether a count was worked out by the gateway, as the upstream did not report it.",
      }),
      costUsd: t.field({
        type: "Decimal",
        nullable: true,
        description:
          "US dollars, by the prices of then; null when a price or a count is unknown. 0 where nothing of the request went to a provider.",
        resolve: ({ cost }) => toBigInt(cost),
      }),
      ...Object.fromEntries(
        (["inputPrice", "cachedInputPrice", "cacheWritePrice", "outputPrice"] as const).map((name) => [
          `${name}Usd`,
          t.field({
            type: "Decimal",
            nullable: true,
            description: "US dollars per million tokens, as the cost was worked out.",
            resolve: (record) => toBigInt(record[name]),
          }),
        ]),
      ),
      latencyMs: t.exposeInt("latencyMs"),
      timeToFirstTokenMs: t.exposeInt("timeToFirstTokenMs", { nullable: true }),
    }),
  });
}

function toBigInt(value: number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
