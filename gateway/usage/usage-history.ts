import type { Database, Repositories } from "../../db/database.ts";
import type { UsageRecordRow, UsageStatus } from "../../db/entities/usage-record.ts";
import type { UsageDimension, UsageFilter, UsageInterval } from "../../db/repositories/usage-queries.ts";
import type { UsageSum } from "../../db/repositories/usage-sum.ts";
import { ownerScope, type Person } from "../auth/person.ts";
import { firstIdAt, timeOfId } from "../ids.ts";
import type { Limits } from "../limit-variables.ts";
import { summarizeUsage } from "./usage-summary.ts";

/** Which usage somebody wants to see: made in `from` ≤ … < `to`. */
export type UsageWish = {
  apiKeyId?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  status?: UsageStatus | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** `after` is the id of a record; the page begins with the one before it. */
type PageWish = { first: number; after?: string | undefined };

type UsageHistoryOptions = {
  database: Database;
  limits: Pick<Limits, "usageQueryTimeoutMs" | "usageSummaryRowsMax">;
};

/**
 * What was used, for people to look at. A member sees what the member's own keys used, those that are gone included: the
 * owner is in every query.
 */
export class UsageHistory {
  readonly #database: Database;
  readonly #limits: UsageHistoryOptions["limits"];

  constructor({ database, limits }: UsageHistoryOptions) {
    this.#database = database;
    this.#limits = limits;
  }

  /** Newest first. */
  list(person: Person, wish: UsageWish, { first, after }: PageWish): Promise<UsagePage> {
    return this.#database.read(async (repositories) => {
      const range = await this.#narrow(repositories, filterOf(person, wish), idsOf(wish, after), first + 1);
      if (range === null) return { records: [], hasMore: false };
      const page = { filter: filterOf(person, wish), ...range, limit: first + 1 };
      const found = await repositories.usageRecords.list(page, this.#limits.usageQueryTimeoutMs);
      return { records: found.slice(0, first), hasMore: found.length > first };
    });
  }

  /** Null when there is none that this person may see. */
  get(person: Person, id: string): Promise<UsageRecordRow | null> {
    return this.#database.read(({ usageRecords }) => usageRecords.find(id, ownerScope(person)));
  }

  /** Sums by dimension and interval, in UTC. Throws `invalid_value` when there are too many. */
  summarize(person: Person, wish: UsageWish, by: SummaryWish): Promise<UsageSum[]> {
    const query = { filter: filterOf(person, wish), period: wish, ...by };
    return this.#database.read((repositories) => summarizeUsage(repositories, query, this.#limits));
  }

  /**
   * Of a filter with several conditions an index serves only one, so what is rare would be looked for through everything.
   * The roll-ups tell on which days there is any. Null when there is none at all.
   */
  async #narrow(
    { usageRollUps }: Repositories,
    filter: UsageFilter,
    range: IdRange,
    limit: number,
  ): Promise<IdRange | null> {
    if (conditionCount(filter) < 2) return range;
    const before = range.beforeId === undefined ? null : new Date(timeOfId(range.beforeId) + 1);
    const days = await usageRollUps.days({ filter, before, daysMax }, this.#limits.usageQueryTimeoutMs);
    const [newest] = days;
    if (!newest) return null;
    // Of the newest day a part may be excluded, so what is counted on begins with the day before it.
    let found = 0;
    const last = days.slice(1).find(({ requests }) => (found += requests) >= limit);
    if (!last && days.length === daysMax) return range;
    const oldest = (last ?? days.at(-1) ?? newest).startsAt.getTime();
    const fromId = firstIdAt("req", oldest);
    const beforeId = firstIdAt("req", newest.startsAt.getTime() + dayMs);
    return {
      fromId: range.fromId !== undefined && range.fromId > fromId ? range.fromId : fromId,
      beforeId: range.beforeId !== undefined && range.beforeId < beforeId ? range.beforeId : beforeId,
    };
  }
}

export type UsagePage = { records: UsageRecordRow[]; hasMore: boolean };

export type SummaryWish = { groupBy: readonly UsageDimension[]; interval: UsageInterval | null };

type IdRange = { fromId: string | undefined; beforeId: string | undefined };

const dayMs = 86_400_000;
const daysMax = 400;

function filterOf(person: Person, { apiKeyId, model, provider, status }: UsageWish): UsageFilter {
  return { owner: ownerScope(person), apiKeyId, model, provider, status };
}

/** A period is a range of ids, as these begin with their time. */
function idsOf({ from, to }: UsageWish, after: string | undefined): IdRange {
  const end = to && firstIdAt("req", to.getTime());
  return {
    fromId: from && firstIdAt("req", from.getTime()),
    beforeId: after !== undefined && (end === undefined || after < end) ? after : end,
  };
}

function conditionCount({ owner, ...conditions }: UsageFilter): number {
  const given = Object.values(conditions).filter((condition) => condition !== undefined);
  return given.length + (owner === "everyone" ? 0 : 1);
}
