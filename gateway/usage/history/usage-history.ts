import type { Database, Repositories } from "../../../db/database.ts";
import type { UsageRecordRow, UsageStatus } from "../../../db/entities/usage-record.ts";
import type { UsageDimension, UsageFilter } from "../../../db/repositories/usage-filter.ts";
import type { UsageInterval } from "../../../db/repositories/usage-queries.ts";
import { ownerScope, type Person } from "../../auth/person.ts";
import { firstIdAt } from "../../ids.ts";
import type { Settings } from "../../config/limit-variables.ts";
import { narrowPage, type WantedPage } from "./narrow-page.ts";
import { summarizeUsage, type UsageSummary } from "./usage-summary.ts";

/** `from` ≤ time < `to`. If `status` and `statuses` are given, records must match both. */
export type UsageCriteria = Omit<UsageFilter, "owner"> & {
  status?: UsageStatus | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** `after` is the ID of the record before the page. */
type PageRange = { first: number; after?: string | undefined };

type UsageHistoryOptions = {
  database: Database;
  limits: Pick<Settings, "usageQueryTimeoutMs" | "usageSummaryRowsMax">;
};

/** Members see only usage recorded with their own `ownerId`, including usage of deleted keys. */
export class UsageHistory {
  readonly #database: Database;
  readonly #limits: UsageHistoryOptions["limits"];

  constructor({ database, limits }: UsageHistoryOptions) {
    this.#database = database;
    this.#limits = limits;
  }

  /** Lists the newest records first. */
  list(person: Person, criteria: UsageCriteria, { first, after }: PageRange): Promise<UsagePage> {
    return this.#database.ask(person, async (repositories) => {
      const wanted = { ...idsOf(criteria, after), limit: first + 1 };
      const filter = filterOf(person, criteria);
      const found: UsageRecordRow[] = [];
      // An index returns only one status's records in order, so each status has its own query.
      for (const single of splitStatuses(filter))
        found.push(...(await this.#page(repositories, { ...wanted, filter: single })));
      found.sort((one, other) => (one.id < other.id ? 1 : -1));
      const records = await withOwnerNames(repositories, found.slice(0, first));
      return { records, hasMore: found.length > first };
    });
  }

  /** Null for an unknown record and for a record that the person must not see. */
  get(person: Person, id: string): Promise<OwnedRecord | null> {
    return this.#database.ask(person, async (repositories) => {
      const found = await repositories.usageRecords.find(id, ownerScope(person));
      const [record = null] = found ? await withOwnerNames(repositories, [found]) : [];
      return record;
    });
  }

  /** Throws `invalid_value` for an unsupported filter and for a result with too many rows. */
  summarize(person: Person, criteria: UsageCriteria, by: SummaryGrouping): Promise<UsageSummary[]> {
    const query = { filter: filterOf(person, criteria), period: criteria, ...by };
    return this.#database.ask(person, (repositories) => summarizeUsage(repositories, query, this.#limits));
  }

  async #page(repositories: Repositories, wanted: WantedPage): Promise<UsageRecordRow[]> {
    const { usageQueryTimeoutMs } = this.#limits;
    const page = await narrowPage(repositories, wanted, usageQueryTimeoutMs);
    return page === null ? [] : repositories.usageRecords.list(page, usageQueryTimeoutMs);
  }
}

export type UsagePage = { records: OwnedRecord[]; hasMore: boolean };

/** `ownerName` is the current name. Null without an owner, and for a deleted owner. */
export type OwnedRecord = UsageRecordRow & { ownerName: string | null };

export type SummaryGrouping = {
  groupBy: readonly UsageDimension[];
  interval: UsageInterval | null;
  isWithoutTimes?: boolean;
};

function filterOf(person: Person, criteria: UsageCriteria): UsageFilter {
  const { from: _from, to: _to, status, statuses, ...conditions } = criteria;
  const both = status === undefined ? statuses : [status].filter((each) => statuses?.includes(each) ?? true);
  return { ...conditions, owner: ownerScope(person), statuses: both && [...new Set(both)] };
}

function splitStatuses(filter: UsageFilter): UsageFilter[] {
  return filter.statuses?.map((status) => ({ ...filter, statuses: [status] })) ?? [filter];
}

/** Converts a period to a range of IDs, because IDs sort by time. */
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
