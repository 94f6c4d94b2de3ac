import type { UsageRecordRow } from "../../db/entities/usage-record.ts";

export const groupings = [
  ...([[], ["model"], ["apiKeyId", "status"], ["provider"]] as const),
  ...([["ownerId"], ["teamId"], ["clientTool"], ["errorReason", "clientTool"]] as const),
];

export function total(counts: number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Sums up records in memory, to check the database's sums. */
export function sumUp(
  records: UsageRecordRow[],
  groupBy: (typeof groupings)[number],
  interval: "hour" | "day" | "month" | null,
): string[][] {
  const length = { hour: 13, day: 10, month: 7 };
  const groups = Map.groupBy(records, (record) => {
    const period =
      interval === null
        ? undefined
        : record.createdAt.toISOString().slice(0, length[interval]) +
          "0000-01-01T00:00:00.000Z".slice(length[interval]);
    return [period, ...groupBy.map((name) => record[name] ?? "")].join();
  });
  if (groups.size === 0 && interval === null && groupBy.length === 0) groups.set("", []);
  return [...groups]
    .map(([key, group]) => {
      const sum = (of: (record: UsageRecordRow) => number) =>
        group.reduce((total, each) => total + of(each), 0);
      return [
        key,
        [
          group.length,
          sum(({ inputTokens }) => inputTokens ?? 0),
          sum(({ cost }) => cost ?? 0),
          sum(({ markup }) => markup),
          sum(({ cost }) => (cost === null ? 1 : 0)),
          sum(({ status }) => (status === "SUCCEEDED" ? 1 : 0)),
          sum(({ status }) => (status === "FAILED" ? 1 : 0)),
          sum(({ status }) => (status === "SUCCEEDED" ? 1 : 0)),
          sum(({ timeToFirstTokenMs }) => (timeToFirstTokenMs === null ? 0 : 1)),
        ].join(),
      ];
    })
    .toSorted();
}
