import { allKeys } from "../../db/entities/usage-roll-up.ts";
import type { DailyCostsOf } from "../../db/repositories/daily-costs-query.ts";
import type { Settings } from "../config/variables.ts";
import type { LimitHolder } from "../errors.ts";
import type { EnforcedLimits } from "./key-limits.ts";

/** A key as its limits see it. */
export type LimitedKey = Readonly<{ id: string; ownerId: string | null; limits: EnforcedLimits | null }>;

/** Somebody who has limits and budgets. The limits apply to a group of keys: those for which `idOf` is the same. */
export type Holder = Readonly<{
  kind: LimitHolder;
  /** Null for a key without this holder. */
  idOf: (key: Pick<LimitedKey, "id" | "ownerId">) => string | null;
  /** The limits that are set for this holder. The defaults replace the limits that are null. */
  limitsOf: (key: Pick<LimitedKey, "limits">) => EnforcedLimits | null;
  defaults: (settings: Settings) => HolderDefaults;
  costs: {
    of: DailyCostsOf["of"];
    /** The ID in the roll-ups, if it is not the holder's. */
    id?: string;
    /** Whether all costs count, also of holders without a budget. Otherwise this month's count, for a budget. */
    countAll: boolean;
  };
  /** Completes sentences such as "The budget for … is exceeded". */
  words: string;
  /** The log message of a budget warning. */
  warning: string;
  /** Describes the holder in the GraphQL schema. */
  scope: string;
}>;

/** 0 means no limit. */
type HolderDefaults = {
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrentRequests: number;
  budgetsUsd: { day: number; month: number };
};

/** All kinds of holders. Errors name the first one whose limit is exceeded. Their IDs differ. */
export const holderKinds: readonly Holder[] = [
  {
    kind: "key",
    idOf: ({ id }) => id,
    limitsOf: ({ limits }) => limits,
    defaults: (settings) => ({
      requestsPerMinute: settings.keyRequestsPerMinuteMax,
      tokensPerMinute: settings.keyTokensPerMinuteMax,
      concurrentRequests: settings.keyConcurrentRequestsMax,
      budgetsUsd: { day: 0, month: 0 },
    }),
    costs: { of: "keys", countAll: true },
    words: "this API key",
    warning: "an API key has spent part of its budget",
    scope: "The API key itself.",
  },
  {
    kind: "person",
    idOf: ({ ownerId }) => ownerId,
    limitsOf: () => null,
    defaults: (settings) => ({
      requestsPerMinute: settings.personRequestsPerMinuteMax,
      tokensPerMinute: settings.personTokensPerMinuteMax,
      concurrentRequests: settings.personConcurrentRequestsMax,
      budgetsUsd: { day: settings.personBudgetUsdPerDayMax, month: settings.personBudgetUsdPerMonthMax },
    }),
    costs: { of: "owners", countAll: false },
    words: "all API keys of this key's owner",
    warning: "a user's API keys have spent part of their budget",
    scope: "All API keys of the key's owner.",
  },
  {
    kind: "gateway",
    idOf: () => "gateway",
    limitsOf: () => null,
    defaults: (settings) => ({
      requestsPerMinute: settings.gatewayRequestsPerMinuteMax,
      tokensPerMinute: settings.gatewayTokensPerMinuteMax,
      concurrentRequests: 0,
      budgetsUsd: { day: settings.gatewayBudgetUsdPerDayMax, month: settings.gatewayBudgetUsdPerMonthMax },
    }),
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
