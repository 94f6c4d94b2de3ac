import { allKeys } from "../../db/entities/usage-roll-up.ts";
import { dailyCostsQuery } from "../../db/repositories/daily-costs-query.ts";
import {
  countQuery,
  daysQuery,
  pageQuery,
  type SqlDialect,
  sumQuery,
} from "../../db/repositories/usage-queries.ts";
import type { Query } from "../../db/repositories/raw-sql.ts";
import { firstIdAt } from "../../gateway/ids.ts";

/** Returns frequent queries, each with the index that it must use. Null is the primary key. */
export function hotQueries(dialect: SqlDialect): HotQuery[] {
  const everyone = { owner: "everyone" } as const;
  const apiKeyId = "key_00000000000000000000000000";
  const owner = { ownerId: "usr_00000000000000000000000001" };
  const [from, to] = [new Date("2026-11-10T00:00:00Z"), new Date("2026-11-20T00:00:00Z")];
  const [fromId, beforeId] = [firstIdAt("req", from.getTime()), firstIdAt("req", to.getTime())];
  const page = (filter: Parameters<typeof pageQuery>[1]["filter"], range = {}) =>
    pageQuery(dialect, { filter, ...range, limit: 51 });
  const sum = (query: Partial<Parameters<typeof sumQuery>[1]>) =>
    sumQuery(dialect, {
      filter: everyone,
      groupBy: ["model", "status"],
      interval: null,
      rowsMax: 10_001,
      of: { resolution: "day", from, to },
      ...query,
    });
  return [
    { title: "everybody's latest", index: null, query: page(everyone, { beforeId }) },
    { title: "a key's latest", index: "usage_records_key", query: page({ ...everyone, apiKeyId }) },
    {
      title: "a key's next page",
      index: "usage_records_key",
      query: page({ ...everyone, apiKeyId }, { beforeId }),
    },
    { title: "a member's latest", index: "usage_records_owner", query: page({ owner }) },
    {
      title: "a member's key",
      index: "usage_records_key",
      query: page({ owner, apiKeyId }, { fromId, beforeId }),
    },
    {
      title: "failures of a time",
      index: "usage_records_status",
      query: page({ ...everyone, statuses: ["FAILED"] }, { fromId, beforeId }),
    },
    {
      title: "a model's",
      index: "usage_records_model",
      query: page({ ...everyone, model: "provider-0/model-0" }, { fromId }),
    },
    {
      title: "a provider's",
      index: "usage_records_provider",
      query: page({ ...everyone, provider: "provider-0" }, { beforeId }),
    },
    {
      title: "a person's",
      index: "usage_records_owner",
      query: page({ ...everyone, ...owner }, { beforeId }),
    },
    {
      title: "requests of unowned keys",
      index: "usage_records_owner",
      query: page({ ...everyone, ownerId: "" }, { beforeId }),
    },
    {
      title: "a tool's",
      index: "usage_records_tool",
      query: page({ ...everyone, clientTool: "codex" }, { beforeId }),
    },
    {
      title: "an error reason's slow ones",
      index: "usage_records_reason",
      query: page({ ...everyone, errorReason: "http_503", minLatencyMs: 10_000 }, { fromId, beforeId }),
    },
    {
      title: "a key's failures with a model",
      index: "usage_records_key",
      query: page(
        { ...everyone, apiKeyId, model: "provider-0/model-0", statuses: ["FAILED"] },
        { fromId, beforeId },
      ),
    },
    {
      title: "where a filter with several conditions has anything",
      index: "usage_roll_ups_key",
      query: daysQuery(dialect, {
        filter: { ...everyone, apiKeyId, statuses: ["FAILED"] },
        before: to,
        daysMax: 400,
      }),
    },
    {
      title: "where slow requests of a tool may be",
      index: "usage_roll_ups_key",
      query: daysQuery(dialect, {
        filter: { ...everyone, clientTool: "codex", minLatencyMs: 10_000 },
        before: to,
        daysMax: 400,
      }),
    },
    {
      title: "how many records meet one condition",
      index: "usage_roll_ups_key",
      query: countQuery(dialect, { ...everyone, statuses: ["FAILED"] }, from, to),
    },
    { title: "sums of days", index: "usage_roll_ups_key", query: sum({}) },
    { title: "sums of keys", index: null, query: sum({ groupBy: ["apiKeyId", "status"] }) },
    { title: "sums of people", index: null, query: sum({ groupBy: ["ownerId", "status"] }) },
    {
      title: "sums of tools",
      index: "usage_roll_ups_key",
      query: sum({ groupBy: ["clientTool", "status"] }),
    },
    {
      title: "sums of error reasons of a tool",
      index: "usage_roll_ups_key",
      query: sum({ filter: { ...everyone, clientTool: "codex" }, groupBy: ["errorReason", "status"] }),
    },
    {
      title: "sums of a person's keys",
      index: "usage_roll_ups_owner",
      query: sum({ filter: { ...everyone, ...owner }, groupBy: ["apiKeyId", "status"] }),
    },
    { title: "the month's chart", index: "usage_roll_ups_key", query: sum({ interval: "day" }) },
    {
      title: "the day's hours",
      index: "usage_roll_ups_key",
      query: sum({ interval: "hour", of: { resolution: "hour", from, to } }),
    },
    {
      title: "a key's chart",
      index: "usage_roll_ups_key",
      query: sum({ filter: { ...everyone, apiKeyId }, interval: "day" }),
    },
    {
      title: "a member's chart",
      index: "usage_roll_ups_owner",
      query: sum({ filter: { owner }, interval: "day" }),
    },
    {
      title: "what keys have spent",
      index: "usage_roll_ups_key",
      query: dailyCostsQuery(dialect, { of: "keys", ids: [apiKeyId, "key_00000000000000000000000001"] }),
    },
    {
      title: "what a person has spent this month",
      index: "usage_roll_ups_owner",
      query: dailyCostsQuery(dialect, { of: "owners", ids: [owner.ownerId], from }),
    },
    {
      title: "what all keys have spent this month",
      index: "usage_roll_ups_key",
      query: dailyCostsQuery(dialect, { of: "keys", ids: [allKeys], from }),
    },
    { title: "sums of a part of an hour", index: null, query: sum({ of: { fromId, beforeId } }) },
    {
      title: "a key's sums of a part of an hour",
      index: "usage_records_key",
      query: sum({ filter: { ...everyone, apiKeyId }, of: { fromId, beforeId } }),
    },
  ];
}

export type HotQuery = { title: string; index: string | null; query: Query };

/** Returns the content of test/usage/hot-queries.sql. In reviews, that file shows changed queries. */
export function printHotQueries(): string {
  return ["better-sqlite3", "mariadb", "mysql"]
    .flatMap((kind) => [
      `-- ${kind}\n`,
      ...hotQueries({ kind, timeoutMs: 2_000 }).map(
        ({ title, query }) => `-- ${title}\n${query.sql.trim()};\n`,
      ),
    ])
    .join("\n");
}
