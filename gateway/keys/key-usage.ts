import type { Database } from "../../db/database.ts";
import { can } from "../auth/permissions.ts";
import { type Person, ownerScope } from "../auth/person.ts";
import { findKey, attentionConditions } from "./find-key.ts";
import { budgetMark, budgetMarks } from "../limits/budgets/budget-marks.ts";
import type { Budgets, SharedBudgetUses } from "../limits/budgets/budgets.ts";
import { budgetsOf, byName, firstLimits, toLimits, toUsd } from "../limits/limit-table.ts";
import type { LimitsInForce } from "../limits/holders.ts";
import type { Limiter } from "../limits/rates/limiter.ts";
import { secondsPerMinute } from "../limits/rates/meter.ts";
import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import { type BudgetPeriod, budgetPeriods, type RateName, rateNames } from "../../db/entities/limits.ts";

/** A null limit means no limit. */
type Use = { limit: number | null; used: number };

/** The use of the last minute in all processes, and the requests in flight in this process. */
type KeyUsage = Record<RateName, Use> & {
  budgets: BudgetUse[];
  /** The addresses that the key's own limits or the default of each key allow. Null allows all. */
  addressRanges: string[] | null;
  /**
   * Only administrators see the gateway's amounts. `isGatewaySpent` is for all users, because a spent gateway
   * budget rejects their requests.
   */
  sharedBudgets: SharedBudgetUses & { isGatewaySpent: boolean };
  /** 80 or 100, once that percentage of a budget is spent. Null below 80 %. */
  budgetSpentPercent: number | null;
  /** The latest warnings, newest first. */
  warnings: { period: BudgetPeriod; percent: number; budgetUsd: number | null; at: Date }[];
};

/** `startsAt` and `endsAt` are null for the lifetime budget. */
type BudgetUse = {
  period: BudgetPeriod;
  budgetUsd: number | null;
  spentUsd: number;
  startsAt: Date | null;
  endsAt: Date | null;
};

type KeyUsageReaderOptions = {
  database: Database;
  now: () => number;
  limitsInForce: LimitsInForce;
  limiter: Pick<Limiter, "statusOf">;
  budgets: Pick<Budgets, "load" | "spentIn" | "sharedUsesOfKey">;
};

export class KeyUsageReader {
  readonly #options: KeyUsageReaderOptions;

  constructor(options: KeyUsageReaderOptions) {
    this.#options = options;
  }

  /** Throws `not_found` for a key that the user cannot see. */
  async get(person: Person, id: string): Promise<KeyUsage> {
    const { database, now, limitsInForce, limiter, budgets } = this.#options;
    const from = Math.floor(now() / 1000) - secondsPerMinute + 1;
    const { key, uses, events } = await database.read(async (repositories) => ({
      key: (await findKey(repositories, person, id)).key,
      uses: await repositories.limitUses.ofOthers("", { from, subjectIds: [id] }),
      events: await repositories.limitEvents.list(id, warningsMax),
    }));
    await budgets.load([id]);
    const shared = await budgets.sharedUsesOfKey(key);
    const inForce = toLimits(firstLimits(key, limitsInForce.defaultsOf("key")));
    const budgetUses = budgetPeriods.map((period) => this.#budgetUse(id, period, inForce.budgetsUsd[period]));
    const sum = (name: "requests" | "tokens") => uses.reduce((total, use) => total + use[name], 0);
    const used: Record<RateName, number> = {
      requestsPerMinute: sum("requests"),
      tokensPerMinute: sum("tokens"),
      concurrentRequests: limiter.statusOf({ id }).concurrentRequests,
    };
    return {
      ...byName(rateNames, (name) => ({ limit: inForce[name], used: used[name] })),
      budgets: budgetUses,
      addressRanges: inForce.addressRanges,
      sharedBudgets: {
        ...shared,
        ...(!can(person, "budgets.ofGateway") && { gateway: [] }),
        isGatewaySpent: shared.gateway.some(({ spentPercent }) => spentPercent >= 100),
      },
      budgetSpentPercent: budgetMark(
        budgetUses.map(({ budgetUsd, spentUsd }) => ({ budget: budgetUsd, spent: spentUsd })),
      ),
      warnings: events.map(({ period, percent, budget, createdAt }) => ({
        period: period as BudgetPeriod,
        percent,
        budgetUsd: toUsd(budget),
        at: createdAt,
      })),
    };
  }

  attention(person: Person): Promise<KeyAttention> {
    const owner = ownerScope(person);
    const { database, limitsInForce } = this.#options;
    const now = this.#options.now();
    const defaults = limitsInForce.defaultsOf("key");
    return database.ask(person, async (repositories) => {
      const { apiKeys } = repositories;
      const expiring = { owner, status: "active", ...attentionConditions("expiring", now) } as const;
      const unused = { owner, status: "active", ...attentionConditions("unused", now) } as const;
      const budgeted = await (budgetsOf(defaults)
        ? apiKeys.newestActive(owner, budgetedMax)
        : apiKeys.listBudgeted(owner, budgetedMax));
      const marks = await budgetMarks(repositories, budgeted, defaults, now);
      const marked = budgeted
        .flatMap(({ id, name }) => ({ id, name, spentPercent: marks.get(id) ?? 0 }))
        .filter(({ spentPercent }) => spentPercent > 0)
        .toSorted((one, other) => other.spentPercent - one.spentPercent);
      const [soon, never] = [await apiKeys.first(expiring, keysMax), await apiKeys.first(unused, keysMax)];
      return {
        expiring: {
          count: await apiKeys.count(expiring),
          keys: soon.map(({ id, name, expiresAt }) => ({ id, name, expiresAt })),
        },
        budgets: { count: marked.length, keys: marked.slice(0, keysMax) },
        unused: {
          count: await apiKeys.count(unused),
          keys: never.map(({ id, name, createdAt }) => ({ id, name, createdAt })),
        },
      };
    });
  }

  #budgetUse(id: string, period: BudgetPeriod, budgetUsd: number | null): BudgetUse {
    const spent = this.#options.budgets.spentIn(id, period);
    const isEndless = period === "total" || spent === null;
    return {
      period,
      budgetUsd,
      spentUsd: toUsd(spent?.amount ?? 0),
      startsAt: isEndless ? null : new Date(spent.startsAt),
      endsAt: isEndless ? null : new Date(spent.endsAt),
    };
  }
}

const warningsMax = 20;

type NamedKey = Pick<ApiKeyRow, "id" | "name">;

/** Active keys that may need a decision. Each `keys` list has at most five entries. */
type KeyAttention = {
  /** Keys that expire within 7 days, soonest first. */
  expiring: { count: number; keys: (NamedKey & { expiresAt: Date | null })[] };
  /** Keys that spent at least 80 % of a budget. `spentPercent` is 80 or 100, and 100 comes first. */
  budgets: { count: number; keys: (NamedKey & { spentPercent: number })[] };
  /** Keys that never made a request, oldest first. */
  unused: { count: number; keys: (NamedKey & { createdAt: Date })[] };
};

const keysMax = 5;
/** Only the newest keys with a budget are considered, because all daily costs of each key are read. */
const budgetedMax = 200;
