import type { Database, Repositories } from "../../../db/database.ts";
import type { UsageDimension, UsageRecordRow, UsageStatus } from "../../../db/entities/usage-record.ts";
import {
  type UsageFilter,
  type UsageCondition,
  usageConditions,
} from "../../../db/repositories/usage-filter.ts";
import type { UsageInterval, UsagePage as RecordsPage } from "../../../db/repositories/usage-queries.ts";
import { ownerScope, type Person } from "../../auth/person.ts";
import { scopeIn } from "../../auth/team-access.ts";
import { firstIdAt, timeOfId } from "../../ids.ts";
import { findKind } from "../../providers/registry.ts";
import type { Settings } from "../../config/variables.ts";
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

/**
 * Members see only usage recorded with their own `ownerId`, including usage of deleted keys. If a question is about
 * one team, its leads see all its usage.
 */
export class UsageHistory {
  readonly #options: UsageHistoryOptions;

  constructor(options: UsageHistoryOptions) {
    this.#options = options;
  }

  /** Lists the newest records first. */
  list(person: Person, criteria: UsageCriteria, { first, after }: PageRange): Promise<UsagePage> {
    return this.#options.database.ask(person, async (repositories) => {
      const wanted = { ...idsOf(criteria, after), limit: first + 1 };
      const filter = await filterOf(repositories, person, criteria);
      const found: UsageRecordRow[] = [];
      // An index returns only one status's records in order, so each status has its own query.
      for (const single of splitStatuses(filter))
        found.push(...(await this.#page(repositories, { ...wanted, filter: single })));
      found.sort((one, other) => (one.id < other.id ? 1 : -1));
      const records = await withNames(repositories, found.slice(0, first));
      return { records, hasMore: found.length > first };
    });
  }

  /** Null for an unknown record and for a record that the person must not see. */
  get(person: Person, id: string): Promise<OwnedRecord | null> {
    return this.#options.database.ask(person, async (repositories) => {
      const found = await repositories.usageRecords.find(id);
      if (!found) return null;
      const scope = await scopeIn(repositories, person, found.teamId);
      if (scope !== "everyone" && scope.ownerId !== found.ownerId) return null;
      const [record = null] = await withNames(repositories, [found]);
      return record;
    });
  }

  /** Throws `invalid_value` for an unsupported filter and for a result with too many rows. */
  summarize(person: Person, criteria: UsageCriteria, by: SummaryGrouping): Promise<UsageSummary[]> {
    return this.#options.database.ask(person, async (repositories) => {
      const filter = await filterOf(repositories, person, criteria);
      return summarizeUsage(repositories, { filter, period: criteria, ...by }, this.#options.limits);
    });
  }

  /** The steps that a person has done. A used provider or key counts even after its deletion. */
  onboarding(person: Person) {
    const owner = ownerScope(person);
    return this.#options.database.ask(person, async ({ apiKeys, providers, usageRollUps }) => {
      const rows = await providers.list();
      const demos = rows.filter(({ kind }) => findKind(kind)?.isDemo).map(({ name }) => name);
      const hasProvider =
        demos.length < rows.length || (await usageRollUps.existsBesides([firstDemo, ...demos]));
      const hasUsedKey = await usageRollUps.existsOf(owner);
      return {
        /** Whether a provider other than the demo exists or was called. */
        hasProvider,
        /** Whether a key with an owner exists or was used. For members, only their own keys count. */
        hasKey: hasUsedKey || (await apiKeys.existsOf(owner)),
        // Without a provider, only the demo can have answered.
        hasRequest: hasProvider && hasUsedKey,
      };
    });
  }

  async #page(repositories: Repositories, wanted: WantedPage): Promise<UsageRecordRow[]> {
    const { usageQueryTimeoutMs } = this.#options.limits;
    const page = await narrowPage(repositories, wanted, usageQueryTimeoutMs);
    return page === null ? [] : repositories.usageRecords.list(page, usageQueryTimeoutMs);
  }
}

/** The demo provider of the first start, which may no longer exist. */
const firstDemo = "demo";

type UsagePage = { records: OwnedRecord[]; hasMore: boolean };

/** The names are the current ones. Null without an owner or team, and for a deleted owner. */
export type OwnedRecord = UsageRecordRow & { ownerName: string | null; teamName: string | null };

export type SummaryGrouping = {
  groupBy: readonly UsageDimension[];
  interval: UsageInterval | null;
  isWithoutTimes?: boolean;
};

async function filterOf(
  repositories: Repositories,
  person: Person,
  criteria: UsageCriteria,
): Promise<UsageFilter> {
  const { from: _from, to: _to, status, statuses, ...conditions } = criteria;
  const both = status === undefined ? statuses : [status].filter((each) => statuses?.includes(each) ?? true);
  const owner = await scopeIn(repositories, person, criteria.teamId);
  return { ...conditions, owner, statuses: both && [...new Set(both)] };
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

async function withNames({ users, teams }: Repositories, records: UsageRecordRow[]): Promise<OwnedRecord[]> {
  const idsOf = (name: "ownerId" | "teamId") => [...new Set(records.flatMap((record) => record[name] ?? []))];
  const [owners, payers] = [await users.namesOf(idsOf("ownerId")), await teams.namesOf(idsOf("teamId"))];
  return records.map((record) => ({
    ...record,
    ownerName: owners.get(record.ownerId ?? "") ?? null,
    teamName: payers.get(record.teamId ?? "") ?? null,
  }));
}

/**
 * Uses roll-ups to narrow a page to the days of its records and to select the rarest condition's index.
 * Otherwise a query for rare records would read most of an index. Null for an empty page.
 */
async function narrowPage(
  { usageRollUps }: Repositories,
  page: WantedPage,
  timeoutMs: number,
): Promise<RecordsPage | null> {
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

type WantedPage = Omit<RecordsPage, "by">;

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
