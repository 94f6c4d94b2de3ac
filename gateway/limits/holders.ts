import type { LimitColumns } from "../../db/entities/limits.ts";
import { allKeys } from "../../db/entities/usage-roll-up.ts";
import type { DailyCostsOf } from "../../db/repositories/daily-costs-query.ts";
import type { Settings } from "../config/variables.ts";
import type { LimitHolder } from "../errors.ts";
import type { LimitColumn } from "./limit-table.ts";

/** A key as its limits see it. `limits` are its own, or null if none is set. */
export type LimitedKey = Readonly<{ id: string; ownerId: string | null; limits: LimitColumns | null }>;

/** Somebody who has limits and budgets. The limits apply to a group of keys: those for which `idOf` is the same. */
export type Holder = Readonly<{
  kind: LimitHolder;
  /** Null for a key without this holder. */
  idOf: (key: Pick<LimitedKey, "id" | "ownerId">) => string | null;
  /**
   * Whether a row of limits belongs to one of these holders, by the row's ID. Null if their limits are not in rows:
   * those of a key are its columns.
   */
  isRowOf: ((id: string) => boolean) | null;
  /** The row with the limits of each holder that has none of its own. */
  rowForEach?: string;
  /** The settings that replace limits which no row sets. */
  settings: Partial<Record<LimitColumn, keyof Settings>>;
  costs: {
    of: DailyCostsOf["of"];
    /** The ID in the roll-ups, if it is not the holder's. */
    id?: string;
    /** Whether all costs are read, which the console shows. Otherwise only those that a budget needs. */
    countAll: boolean;
  };
  /** Completes sentences such as "The budget for … is exceeded". */
  words: string;
  /** The log message of a budget warning. */
  warning: string;
  /** Describes the holder in the GraphQL schema. */
  scope: string;
}>;

/** All kinds of holders. Errors name the first one whose limit is exceeded. Their IDs differ. */
export const holderKinds: readonly Holder[] = [
  {
    kind: "key",
    idOf: ({ id }) => id,
    isRowOf: null,
    rowForEach: "keys",
    settings: {
      requestsPerMinute: "keyRequestsPerMinuteMax",
      tokensPerMinute: "keyTokensPerMinuteMax",
      concurrentRequests: "keyConcurrentRequestsMax",
    },
    costs: { of: "keys", countAll: true },
    words: "this API key",
    warning: "an API key has spent part of its budget",
    scope: "The API key itself.",
  },
  {
    kind: "person",
    idOf: ({ ownerId }) => ownerId,
    isRowOf: (id) => id.startsWith("usr_"),
    rowForEach: "people",
    settings: {
      requestsPerMinute: "personRequestsPerMinuteMax",
      tokensPerMinute: "personTokensPerMinuteMax",
      concurrentRequests: "personConcurrentRequestsMax",
      dayBudget: "personBudgetUsdPerDayMax",
      monthBudget: "personBudgetUsdPerMonthMax",
    },
    costs: { of: "owners", countAll: false },
    words: "all API keys of this key's owner",
    warning: "a user's API keys have spent part of their budget",
    scope: "All API keys of the key's owner.",
  },
  {
    kind: "gateway",
    idOf: () => "gateway",
    isRowOf: (id) => id === "gateway",
    settings: {
      requestsPerMinute: "gatewayRequestsPerMinuteMax",
      tokensPerMinute: "gatewayTokensPerMinuteMax",
      dayBudget: "gatewayBudgetUsdPerDayMax",
      monthBudget: "gatewayBudgetUsdPerMonthMax",
    },
    costs: { of: "keys", id: allKeys, countAll: false },
    words: "the whole gateway",
    warning: "the gateway has spent part of its budget",
    scope: "All API keys.",
  },
];

export function holderOf(kind: LimitHolder): Holder {
  return byKind[kind];
}

const byKind = Object.fromEntries(holderKinds.map((holder) => [holder.kind, holder])) as Record<
  LimitHolder,
  Holder
>;
