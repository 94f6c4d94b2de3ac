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
import type { UsageFilter } from "../../db/repositories/usage-filter.ts";
import { firstIdAt } from "../../gateway/ids.ts";

/** Returns frequent queries, each with the index that it must use. Null is the primary key. */
export function hotQueries(dialect: SqlDialect): HotQuery[] {
  const everyone = { owner: "everyone" } as const;
  const apiKeyId = "key_00000000000000000000000000";
  const owner = { ownerId: "usr_00000000000000000000000001" };
  const team = { teamId: "tem_00000000000000000000000001" };
  const [from, to] = [new Date("2026-11-10T00:00:00Z"), new Date("2026-11-20T00:00:00Z")];
  const [fromId, beforeId] = [firstIdAt("req", from.getTime()), firstIdAt("req", to.getTime())];
  const page = (filter: UsageFilter, range = {}) => pageQuery(dialect, { filter, ...range, limit: 51 });
  const days = (filter: UsageFilter) => daysQuery(dialect, { filter, before: to, daysMax: 400 });
  const sum = (query: Partial<Parameters<typeof sumQuery>[1]>) =>
    sumQuery(dialect, {
      filter: everyone,
      groupBy: ["model", "status"],
      interval: null,
      rowsMax: 10_001,
      of: { resolution: "day", from, to },
      ...query,
    });
  const rows: [title: string, index: string | null, query: Query][] = [
    ["everybody's latest", null, page(everyone, { beforeId })],
    ["a key's latest", "usage_records_key", page({ ...everyone, apiKeyId })],
    ["a key's next page", "usage_records_key", page({ ...everyone, apiKeyId }, { beforeId })],
    ["a member's latest", "usage_records_owner", page({ owner })],
    ["a member's key", "usage_records_key", page({ owner, apiKeyId }, { fromId, beforeId })],
    [
      "failures of a time",
      "usage_records_status",
      page({ ...everyone, statuses: ["FAILED"] }, { fromId, beforeId }),
    ],
    ["a model's", "usage_records_model", page({ ...everyone, model: "provider-0/model-0" }, { fromId })],
    ["a provider's", "usage_records_provider", page({ ...everyone, provider: "provider-0" }, { beforeId })],
    ["a person's", "usage_records_owner", page({ ...everyone, ...owner }, { beforeId })],
    ["requests of unowned keys", "usage_records_owner", page({ ...everyone, ownerId: "" }, { beforeId })],
    ["a team's", "usage_records_team", page({ ...everyone, ...team }, { beforeId })],
    ["a tool's", "usage_records_tool", page({ ...everyone, clientTool: "codex" }, { beforeId })],
    [
      "an error reason's slow ones",
      "usage_records_reason",
      page({ ...everyone, errorReason: "http_503", minLatencyMs: 10_000 }, { fromId, beforeId }),
    ],
    [
      "a key's failures with a model",
      "usage_records_key",
      page(
        { ...everyone, apiKeyId, model: "provider-0/model-0", statuses: ["FAILED"] },
        { fromId, beforeId },
      ),
    ],
    [
      "where a filter with several conditions has anything",
      "usage_roll_ups_key",
      days({ ...everyone, apiKeyId, statuses: ["FAILED"] }),
    ],
    [
      "where slow requests of a tool may be",
      "usage_roll_ups_key",
      days({ ...everyone, clientTool: "codex", minLatencyMs: 10_000 }),
    ],
    [
      "how many records meet one condition",
      "usage_roll_ups_key",
      countQuery(dialect, { ...everyone, statuses: ["FAILED"] }, from, to),
    ],
    ["sums of days", "usage_roll_ups_key", sum({})],
    ["sums of keys", null, sum({ groupBy: ["apiKeyId", "status"] })],
    ["sums of people", null, sum({ groupBy: ["ownerId", "status"] })],
    ["sums of teams", null, sum({ groupBy: ["teamId", "status"] })],
    [
      "a team's sums of models",
      "usage_roll_ups_team",
      sum({ filter: { ...everyone, ...team }, groupBy: ["model", "status"] }),
    ],
    ["sums of tools", "usage_roll_ups_key", sum({ groupBy: ["clientTool", "status"] })],
    [
      "sums of error reasons of a tool",
      "usage_roll_ups_key",
      sum({ filter: { ...everyone, clientTool: "codex" }, groupBy: ["errorReason", "status"] }),
    ],
    [
      "sums of a person's keys",
      "usage_roll_ups_owner",
      sum({ filter: { ...everyone, ...owner }, groupBy: ["apiKeyId", "status"] }),
    ],
    ["the month's chart", "usage_roll_ups_key", sum({ interval: "day" })],
    [
      "the day's hours",
      "usage_roll_ups_key",
      sum({ interval: "hour", of: { resolution: "hour", from, to } }),
    ],
    ["a key's chart", "usage_roll_ups_key", sum({ filter: { ...everyone, apiKeyId }, interval: "day" })],
    ["a member's chart", "usage_roll_ups_owner", sum({ filter: { owner }, interval: "day" })],
    [
      "what keys have spent",
      "usage_roll_ups_key",
      dailyCostsQuery(dialect, { of: "keys", ids: [apiKeyId, "key_00000000000000000000000001"] }),
    ],
    [
      "what a person has spent this month",
      "usage_roll_ups_owner",
      dailyCostsQuery(dialect, { of: "owners", ids: [owner.ownerId], from }),
    ],
    [
      "what a team has spent this month",
      "usage_roll_ups_team",
      dailyCostsQuery(dialect, { of: "teams", ids: [team.teamId], from }),
    ],
    [
      "what all keys have spent this month",
      "usage_roll_ups_key",
      dailyCostsQuery(dialect, { of: "keys", ids: [allKeys], from }),
    ],
    ["sums of a part of an hour", null, sum({ of: { fromId, beforeId } })],
    [
      "a key's sums of a part of an hour",
      "usage_records_key",
      sum({ filter: { ...everyone, apiKeyId }, of: { fromId, beforeId } }),
    ],
  ];
  return rows.map(([title, index, query]) => ({ title, index, query }));
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
