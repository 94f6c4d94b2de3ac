import type { Database } from "../../db/database.ts";
import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import { ownerScope, type Person } from "../auth/person.ts";
import { attentionConditions } from "./find-key.ts";
import { budgetMarks } from "../limits/budgets/budget-marks.ts";

type NamedKey = Pick<ApiKeyRow, "id" | "name">;

/** Active keys that may need a decision. Each `keys` list has at most five entries. */
export type KeyAttention = {
  /** Keys that expire within 7 days, soonest first. */
  expiring: { count: number; keys: (NamedKey & { expiresAt: Date | null })[] };
  /** Keys that spent at least 80 % of a budget. `spentPercent` is 80 or 100, and 100 comes first. */
  budgets: { count: number; keys: (NamedKey & { spentPercent: number })[] };
  /** Keys that never made a request, oldest first. */
  unused: { count: number; keys: (NamedKey & { createdAt: Date })[] };
};

export function readKeyAttention(database: Database, person: Person, now: number): Promise<KeyAttention> {
  const owner = ownerScope(person);
  return database.ask(person, async (repositories) => {
    const { apiKeys } = repositories;
    const expiring = { owner, status: "active", ...attentionConditions("expiring", now) } as const;
    const unused = { owner, status: "active", ...attentionConditions("unused", now) } as const;
    const budgeted = await apiKeys.listBudgeted(owner, budgetedMax);
    const marks = await budgetMarks(repositories, budgeted, now);
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

const keysMax = 5;
/** Only the newest keys with a budget are considered, because all daily costs of each key are read. */
const budgetedMax = 200;
