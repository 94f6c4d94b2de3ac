import type { ResultOf } from "gql.tada";
import { type CsvColumn, formatTable } from "#lib/csv.ts";
import { formatCount, formatDollars, formatDuration } from "#lib/format/numbers.ts";
import { formatExactTime } from "#lib/format/relative-time.ts";
import { holderKinds } from "#lib/limits/holder-words.ts";
import { graphql } from "#lib/session/graphql-document.ts";
import { capitalize, failureWords, limitWords } from "./error-reasons.ts";
import { nameModel } from "./model-name.ts";

export const usageRecordFields = graphql(`
  fragment UsageRecordFields on UsageRecord {
    id
    createdAt
    apiKeyId
    apiKeyName
    ownerId
    ownerName
    teamName
    model
    provider
    upstreamModel
    attempts
    endpoint
    clientTool
    stream
    status
    httpStatus
    errorCode
    limitedBy
    errorReason
    dropped
    inputTokens
    outputTokens
    cachedInputTokens
    reasoningTokens
    estimated
    costUsd
    chargeUsd
    latencyMs
    timeToFirstTokenMs
    timing {
      receivedMs
      attempts {
        provider
        model
        startMs
        durationMs
        failure
      }
    }
  }
`);

/** A request. Costs are exact US dollars as text. They are null for an unknown price or token count. */
export type UsageRecord = ResultOf<typeof usageRecordFields>;

export type UsageStatus = UsageRecord["status"];

/** `startMs` is relative to the start of the request. */
export type AttemptTiming = NonNullable<UsageRecord["timing"]>["attempts"][number];

/** The lines of the drawer: a label and a value. */
export function factsOf(record: UsageRecord): [label: string, value: string][] {
  // Without this text, a line is omitted if the request never reached a provider.
  const missing = record.attempts === 0 ? null : isUnanswered(record) ? "–" : "unknown";
  const count = (tokens: number | null) => (tokens === null ? missing : formatCount(tokens));
  const reason = failureWords(record.errorReason);
  const isServed = record.status === "SUCCEEDED" || record.timeToFirstTokenMs !== null;
  const firstTokenMs = record.timeToFirstTokenMs;
  const facts: [label: string, value: string | null][] = [
    ["Time", formatExactTime(new Date(record.createdAt).getTime())],
    ["API key", record.apiKeyName],
    ["Owner", record.ownerName ?? "Unassigned"],
    ["Team", record.teamName],
    ["Model", nameModel(record.model)],
    [
      isServed ? "Served by" : "Routed to",
      record.provider ? `${record.provider} / ${record.upstreamModel ?? "unknown"}` : null,
    ],
    ["Rejected by", refusedBy(record)],
    ["Reason", reason && capitalize(reason)],
    ["Attempts", formatCount(record.attempts)],
    ["Client tool", record.clientTool],
    ["Endpoint", `/v1/${record.endpoint}${record.stream ? ", streamed" : ""}`],
    ["Dropped parts", record.dropped],
    ["HTTP status", String(record.httpStatus)],
    ["Error", record.errorCode],
    ["Input tokens", count(record.inputTokens)],
    ["Cached input", count(record.cachedInputTokens)],
    ["Output tokens", count(record.outputTokens)],
    ["Reasoning", count(record.reasoningTokens)],
    ["Token counts", countedBy(record)],
    ["Cost", formatCost(record)],
    ["Time to first token", firstTokenMs === null ? missing : formatDuration(firstTokenMs)],
    ["Duration", formatDuration(record.latencyMs)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

function countedBy({ estimated, inputTokens, outputTokens }: UsageRecord): string | null {
  if (inputTokens === null && outputTokens === null) return null;
  return estimated ? "estimated by the gateway" : "reported by the provider";
}

export function formatCost(record: UsageRecord): string {
  if (record.costUsd !== null) return formatDollars(Number(record.costUsd));
  return isUnanswered(record) ? "–" : "Unpriced";
}

function isUnanswered({ status, inputTokens, outputTokens, timeToFirstTokenMs }: UsageRecord): boolean {
  return status === "FAILED" && inputTokens === null && outputTokens === null && timeToFirstTokenMs === null;
}

/** The limit, budget or gateway that rejected a request before routing. Null for any other request. */
function refusedBy(record: UsageRecord): string | null {
  const limit = limitOf(record);
  if (limit !== null) return capitalize(limit);
  // `errorCode` is ambiguous, because a provider can also return `insufficient_quota`.
  const { attempts, status } = record;
  return attempts === 0 && status === "FAILED" ? "Gateway (before routing)" : null;
}

/** The limit or budget that rejected a request, and its holder. Null for any other request. */
export function limitOf({ limitedBy, errorReason }: UsageRecord): string | null {
  if (limitedBy === null) return null;
  const kind = limitedBy.toLowerCase() as Lowercase<typeof limitedBy>;
  const whose = kind === "key" ? "API key's" : holderKinds[kind].whose;
  return `${whose} ${limitWords(errorReason) ?? "limits"}`;
}

export function formatCsv(records: UsageRecord[]): string {
  return formatTable(columns, records);
}

const columns: CsvColumn<UsageRecord>[] = [
  ["id", (record) => record.id],
  ["created_at_utc", (record) => record.createdAt],
  ["api_key_id", (record) => record.apiKeyId],
  ["api_key_name", (record) => record.apiKeyName],
  ["model", (record) => record.model],
  ["provider", (record) => record.provider],
  ["upstream_model", (record) => record.upstreamModel],
  ["endpoint", (record) => record.endpoint],
  ["stream", (record) => record.stream],
  ["status", (record) => record.status],
  ["http_status", (record) => record.httpStatus],
  ["error_code", (record) => record.errorCode],
  ["input_tokens", (record) => record.inputTokens],
  ["output_tokens", (record) => record.outputTokens],
  ["cached_input_tokens", (record) => record.cachedInputTokens],
  ["reasoning_tokens", (record) => record.reasoningTokens],
  ["estimated", (record) => record.estimated],
  ["cost_usd", (record) => record.costUsd],
  ["latency_ms", (record) => record.latencyMs],
  ["time_to_first_token_ms", (record) => record.timeToFirstTokenMs],
  // New columns come last, because scripts may address columns by position.
  ["attempts", (record) => record.attempts],
  ["client_tool", (record) => record.clientTool],
  ["owner_name", (record) => record.ownerName],
  ["limited_by", (record) => record.limitedBy],
  ["error_reason", (record) => record.errorReason],
  ["charge_usd", (record) => record.chargeUsd],
];
