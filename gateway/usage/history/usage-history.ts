import type { Database, Repositories } from "../../../db/database.ts";
import type { UsageRecordRow, UsageStatus } from "../../../db/entities/usage-record.ts";
import type { UsageDimension, UsageFilter, UsageInterval } from "../../../db/repositories/usage-queries.ts";
import type { UsageSum } from "../../../db/repositories/usage-sum.ts";
import { ownerScope, type Person } from "../../auth/person.ts";
import { firstIdAt } from "../../ids.ts";
import type { Settings } from "../../config/limit-variables.ts";
import { narrowPage } from "./narrow-page.ts";
import { summarizeUsage } from "./usage-summary.ts";

/** A query of usage: `from` ≤ time < `to`. */
export type UsageCriteria = {
  apiKeyId?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  status?: UsageStatus | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** `after` is the ID of a record. The page starts with the one before it. */
type PageRange = { first: number; after?: string | undefined };

type UsageHistoryOptions = {
  database: Database;
  limits: Pick<Settings, "usageQueryTimeoutMs" | "usageSummaryRowsMax">;
};

/**
 * The usage history that the console shows. A member sees only their own keys' usage, deleted keys included:
 * every query filters by owner.
 */
export class UsageHistory {
  readonly #database: Database;
  readonly #limits: UsageHistoryOptions["limits"];

  constructor({ database, limits }: UsageHistoryOptions) {
    this.#database = database;
    this.#limits = limits;
  }

  /** Newest first. */
  list(person: Person, criteria: UsageCriteria, { first, after }: PageRange): Promise<UsagePage> {
    return this.#database.read(async (repositories) => {
      const { usageQueryTimeoutMs } = this.#limits;
      const wanted = { filter: filterOf(person, criteria), ...idsOf(criteria, after), limit: first + 1 };
      const page = await narrowPage(repositories, wanted, usageQueryTimeoutMs);
      if (page === null) return { records: [], hasMore: false };
      const found = await repositories.usageRecords.list(page, usageQueryTimeoutMs);
      const records = await withOwnerNames(repositories, found.slice(0, first));
      return { records, hasMore: found.length > first };
    });
  }

  /** Null for a record that the user cannot see. */
  get(person: Person, id: string): Promise<OwnedRecord | null> {
    return this.#database.read(async (repositories) => {
      const found = await repositories.usageRecords.find(id, ownerScope(person));
      const [record = null] = found ? await withOwnerNames(repositories, [found]) : [];
      return record;
    });
  }

  /** Sums by dimension and interval, in UTC. Throws `invalid_value` for too many rows. */
  summarize(person: Person, criteria: UsageCriteria, by: SummaryGrouping): Promise<UsageSum[]> {
    const query = { filter: filterOf(person, criteria), period: criteria, ...by };
    return this.#database.read((repositories) => summarizeUsage(repositories, query, this.#limits));
  }
}

export type UsagePage = { records: OwnedRecord[]; hasMore: boolean };

/** With the current name of the key's owner. Null without an owner. */
export type OwnedRecord = UsageRecordRow & { ownerName: string | null };

export type SummaryGrouping = { groupBy: readonly UsageDimension[]; interval: UsageInterval | null };

function filterOf(person: Person, { apiKeyId, model, provider, status }: UsageCriteria): UsageFilter {
  return { owner: ownerScope(person), apiKeyId, model, provider, status };
}

/** A period is a range of IDs, because IDs start with their time. */
function idsOf({ from, to }: UsageCriteria, after: string | undefined) {
  const end = to && firstIdAt("req", to.getTime());
  return {
    fromId: from && firstIdAt("req", from.getTime()),
    beforeId: after !== undefined && (end === undefined || after < end) ? after : end,
  };
}

async function withOwnerNames({ users }: Repositories, records: UsageRecordRow[]): Promise<OwnedRecord[]> {
  const ids = new Set(records.flatMap(({ ownerId }) => ownerId ?? []));
  const names = await users.namesOf([...ids]);
  return records.map((record) => ({ ...record, ownerName: names.get(record.ownerId ?? "") ?? null }));
}
