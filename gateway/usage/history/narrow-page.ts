import type { Repositories } from "../../../db/database.ts";
import {
  type UsageCondition,
  usageConditions,
  type UsageFilter,
} from "../../../db/repositories/usage-filter.ts";
import type { UsagePage } from "../../../db/repositories/usage-queries.ts";
import { firstIdAt, timeOfId } from "../../ids.ts";

/**
 * Uses roll-ups to narrow a page to the days of its records and to select the rarest condition's index.
 * Otherwise a query for rare records would read most of an index. Null for an empty page.
 */
export async function narrowPage(
  { usageRollUps }: Repositories,
  page: WantedPage,
  timeoutMs: number,
): Promise<UsagePage | null> {
  const singles = splitFilter(page.filter);
  if (singles.length < 2 && page.filter.minLatencyMs === undefined) return page;
  const before = page.beforeId === undefined ? null : new Date(timeOfId(page.beforeId) + 1);
  const days = await usageRollUps.days({ filter: page.filter, before, daysMax }, timeoutMs);
  const [newest] = days;
  if (!newest) return null;
  // The page may start within the newest day, so counting starts with the previous day.
  let found = 0;
  const enough = days.slice(1).find(({ requests }) => (found += requests) >= page.limit);
  if (!enough && days.length === daysMax) return page;
  const from = (enough ?? days.at(-1) ?? newest).startsAt;
  const to = new Date(newest.startsAt.getTime() + dayMs);

  const counts = await Promise.all(
    singles.map(async ([condition, filter]) => ({
      condition,
      count: await usageRollUps.count(filter, { from, to }, timeoutMs),
    })),
  );
  const [rarest] = counts.toSorted((one, other) => one.count - other.count);
  return {
    ...page,
    fromId: later(page.fromId, firstIdAt("req", from.getTime())),
    beforeId: earlier(page.beforeId, firstIdAt("req", to.getTime())),
    by: rarest?.condition,
  };
}

export type WantedPage = Omit<UsagePage, "by">;

const dayMs = 86_400_000;
/** A page that needs more days is not narrowed. */
const daysMax = 400;

/** Returns each indexed condition's name with a filter of that condition alone. */
function splitFilter({ owner, ...conditions }: UsageFilter): [UsageCondition, UsageFilter][] {
  return usageConditions.flatMap((name): [UsageCondition, UsageFilter][] => {
    if (name === "owner") return owner === "everyone" ? [] : [[name, { owner }]];
    if (conditions[name] === undefined) return [];
    return [[name, { owner: "everyone", [name]: conditions[name] }]];
  });
}

function later(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}

function earlier(one: string | undefined, other: string): string {
  return one !== undefined && one < other ? one : other;
}
