import type { Database } from "../../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { UsageRecord } from "../usage/record-format.ts";
import { type Budget, type BudgetPeriod, type EnforcedLimits, toUsd } from "./key-limits.ts";
import { Ledger } from "./ledger.ts";
import { UnshippedCosts } from "./unshipped-costs.ts";

/** A part of a budget is spent. Amounts are nano-dollars. */
export type BudgetWarning = {
  record: UsageRecord;
  period: BudgetPeriod;
  percent: number;
  budget: number;
  spent: number;
  periodStartsAt: number;
};

type BudgetedKey = Readonly<{ id: string; limits: EnforcedLimits | null }>;

type BudgetsOptions = {
  database: Database;
  now: () => number;
  /** Runs `read` while nothing of this process's is on its way to the database. */
  readUndisturbed: (read: () => Promise<void>) => Promise<void>;
  warn: (warning: BudgetWarning) => void;
};

/**
 * What keys with a budget have spent: as the usage history counts it, read from its sums when a key is first used, and from
 * then on counted here as requests end. What other processes spend is read back from time to time.
 */
export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #ledgers = new Map<string, Ledger>();
  readonly #unshipped = new UnshippedCosts();

  constructor(options: BudgetsOptions) {
    this.#options = options;
  }

  /** Throws `insufficient_quota` when one of the key's budgets is spent. */
  check({ id, limits }: BudgetedKey): void {
    if (!limits?.budgets) return;
    const ledger = this.#ledgers.get(id);
    if (!ledger) {
      const message = "What this API key has spent is being read. Try again in a moment.";
      throw new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
    }
    ledger.isInUse = true;
    const now = this.#options.now();
    for (const budget of limits.budgets) {
      const { amount, endsAt } = ledger.in(budget.period, now);
      if (amount >= budget.amount) throw budgetSpent(budget, endsAt);
    }
  }

  /** A request is over, and this is what it cost. Called before its record is written. */
  spend({ id, limits }: BudgetedKey, record: UsageRecord): void {
    this.#unshipped.add(record);
    const ledger = this.#ledgers.get(id);
    if (!ledger || record.cost === null) return;
    const now = this.#options.now();
    ledger.add(record.cost, record.createdAt.getTime(), now);
    if (!limits?.budgets) return;
    for (const budget of limits.budgets) {
      const { amount } = ledger.in(budget.period, now);
      if (amount * 100 >= budget.amount * firstWarningPercent) this.#warn(ledger, record, budget, now);
    }
  }

  /** Records of this process have come to the database. */
  shipped(records: readonly UsageRecord[]): void {
    this.#unshipped.shipped(records);
  }

  /** Has to be done before the key's requests are let in. */
  async load(keyIds: readonly string[]): Promise<void> {
    const { database, now, readUndisturbed } = this.#options;
    await readUndisturbed(async () => {
      const costs = await database.read(({ usageRollUps }) => usageRollUps.dailyCosts(keyIds));
      const byKey = Map.groupBy(costs, ({ apiKeyId }) => apiKeyId);
      for (const id of keyIds) {
        let ledger = this.#ledgers.get(id);
        if (!ledger) this.#ledgers.set(id, (ledger = new Ledger(now())));
        const shipped = (byKey.get(id) ?? []).map(
          ({ startsAt, cost }) => [startsAt.getTime(), cost] as const,
        );
        ledger.set(
          [...shipped, ...this.#unshipped.of(id)].map(([at, cost]) => [at, cost]),
          now(),
        );
      }
    });
  }

  /** Brings in what others have spent with the keys that are in use here. */
  async refresh(): Promise<void> {
    const inUse = [...this.#ledgers].filter(([, ledger]) => ledger.isInUse);
    for (const [, ledger] of inUse) ledger.isInUse = false;
    for (let from = 0; from < inUse.length; from += keysPerQuery) {
      await this.load(inUse.slice(from, from + keysPerQuery).map(([id]) => id));
    }
  }

  /** A key has changed, and will be loaded again before it is used; without an id, all. */
  forget(keyId?: string): void {
    if (keyId === undefined) this.#ledgers.clear();
    else this.#ledgers.delete(keyId);
  }

  /** What a key has spent in a period; null if it has not been loaded. */
  spentIn(keyId: string, period: BudgetPeriod): { amount: number; startsAt: number; endsAt: number } | null {
    return this.#ledgers.get(keyId)?.in(period, this.#options.now()) ?? null;
  }

  #warn(ledger: Ledger, record: UsageRecord, { period, amount: budget }: Budget, now: number): void {
    // Nothing can be spent of a budget of nothing.
    if (budget === 0) return;
    const { amount: spent, startsAt: periodStartsAt } = ledger.in(period, now);
    const percent = spent >= budget ? 100 : firstWarningPercent;
    if (percent <= ledger.warned[period]) return;
    ledger.warned[period] = percent;
    this.#options.warn({ record, period, percent, budget, spent, periodStartsAt });
  }
}

const keysPerQuery = 200;
/** The other warning is given at 100. */
const firstWarningPercent = 80;

function budgetSpent({ period, amount: budget }: Budget, endsAt: number): GatewayError {
  const amount = `$${toUsd(budget)} ${period === "total" ? "in total" : `per ${period}`}`;
  const renewal =
    period === "total"
      ? ""
      : ` It begins anew on ${new Date(endsAt).toISOString().slice(0, 10)} at 00:00 UTC.`;
  const message = `The budget of this API key is spent: ${amount}.${renewal} Ask for more where you got the key.`;
  return new GatewayError("insufficient_quota", message);
}
