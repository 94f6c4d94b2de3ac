import type { Repositories } from "../../db/database.ts";
import { type HeldKey, holderColumns } from "../../db/entities/api-key.ts";
import type { LimitColumns, ModelAccess } from "../../db/entities/limits.ts";
import { allKeys } from "../../db/entities/usage-roll-up.ts";
import type { DailyCostsOf } from "../../db/repositories/daily-costs-query.ts";
import type { Settings } from "../config/variables.ts";
import type { LimitHolder } from "../errors.ts";
import type { AddressRanges } from "./address-ranges.ts";
import {
  byName,
  type EnforcedLimits,
  enforcedLimits,
  firstLimits,
  type LimitColumn,
  limitTable,
  noLimitColumns,
  toNanoDollars,
} from "./limit-table.ts";

/** A key as its limits see it. `limits` are its own, or null if none is set. */
export type LimitedKey = HeldKey & Readonly<{ limits: LimitColumns | null }>;

export function heldBy(key: HeldKey): HeldKey {
  return { id: key.id, ...byName(Object.values(holderColumns), (column) => key[column]) };
}

/** Somebody who has limits and budgets. The limits apply to a group of keys: those for which `idOf` is the same. */
export type Holder = Readonly<{
  kind: LimitHolder;
  /** Null for a key without this holder. */
  idOf: (key: HeldKey) => string | null;
  /**
   * Whether a row of limits belongs to one of these holders, by the row's ID. Null if their limits are not in rows:
   * those of a key are its columns.
   */
  isRowOf: ((id: string) => boolean) | null;
  /** The row with the limits of each holder that has none of its own. */
  rowForEach?: string;
  /** The names of rows that are not in another table, by ID. */
  rowNames: Readonly<Record<string, string>>;
  /** Whether its list of models bounds what the key may use. At most one holder of a key pays for it. */
  isPayer?: true;
  findName?: (repositories: Repositories, id: string) => Promise<string | undefined>;
  /** Describes the other rows' IDs. */
  rowIds?: string;
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
  /** The same in a sentence about the key. */
  ofKey: string;
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
    rowNames: { keys: "Each API key" },
    settings: {
      requestsPerMinute: "keyRequestsPerMinuteMax",
      tokensPerMinute: "keyTokensPerMinuteMax",
      concurrentRequests: "keyConcurrentRequestsMax",
    },
    costs: { of: "keys", countAll: true },
    words: "this API key",
    ofKey: "the key",
    warning: "an API key has spent part of its budget",
    scope: "The API key itself.",
  },
  {
    kind: "person",
    idOf: ({ ownerId, teamId }) => (teamId === null ? ownerId : null),
    isRowOf: (id) => id.startsWith("usr_"),
    rowForEach: "people",
    rowNames: { people: "Each person" },
    isPayer: true,
    findName: async ({ users }, id) => (await users.find(id))?.name,
    rowIds: "the ID of a user",
    settings: {
      requestsPerMinute: "personRequestsPerMinuteMax",
      tokensPerMinute: "personTokensPerMinuteMax",
      concurrentRequests: "personConcurrentRequestsMax",
      dayBudget: "personBudgetUsdPerDayMax",
      monthBudget: "personBudgetUsdPerMonthMax",
    },
    costs: { of: "owners", countAll: false },
    words: "all API keys of this key's owner",
    ofKey: "its owner",
    warning: "a user's API keys have spent part of their budget",
    scope: "All API keys of the key's owner, without those that a team pays for.",
  },
  {
    kind: "team",
    idOf: ({ teamId }) => teamId,
    isRowOf: (id) => id.startsWith("tem_"),
    rowNames: {},
    isPayer: true,
    findName: async ({ teams }, id) => (await teams.find(id))?.name,
    rowIds: "the ID of a team",
    settings: {},
    costs: { of: "teams", countAll: false },
    words: "all API keys of this key's team",
    ofKey: "its team",
    warning: "a team's API keys have spent part of their budget",
    scope: "All API keys that the key's team pays for.",
  },
  {
    kind: "gateway",
    idOf: () => "gateway",
    isRowOf: (id) => id === "gateway",
    rowNames: { gateway: "Gateway" },
    settings: {
      requestsPerMinute: "gatewayRequestsPerMinuteMax",
      tokensPerMinute: "gatewayTokensPerMinuteMax",
      dayBudget: "gatewayBudgetUsdPerDayMax",
      monthBudget: "gatewayBudgetUsdPerMonthMax",
    },
    costs: { of: "keys", id: allKeys, countAll: false },
    words: "the whole gateway",
    ofKey: "the gateway",
    warning: "the gateway has spent part of its budget",
    scope: "All API keys.",
  },
];

/** Lists alternatives: "one, two or three". */
export function eitherOf(words: readonly string[]): string {
  return alternatives.format(words);
}

const alternatives = new Intl.ListFormat("en-GB", { type: "disjunction" });

export function holderOf(kind: LimitHolder): Holder {
  return byKind[kind];
}

const byKind = Object.fromEntries(holderKinds.map((holder) => [holder.kind, holder])) as Record<
  LimitHolder,
  Holder
>;

/** A holder of a key, with its ID and the limits that requests meet. */
type HeldLimits = Readonly<{ holder: Holder; id: string; limits: EnforcedLimits }>;

/** All limits of a key's requests. The object stays the same until one of the limits may have changed. */
export type KeyLimits = Readonly<{
  all: readonly HeldLimits[];
  /** Those with a budget. */
  budgeted: readonly HeldLimits[];
  /** A client's address must be in each of them. */
  addressRanges: readonly AddressRanges[];
  /** The IDs of the models that the key's payer may use. Null for all. */
  fence: ReadonlySet<string> | null;
}>;

/** The limits of each holder of a kind that has none of its own. */
type Defaults = Readonly<{ columns: LimitColumns; enforced: EnforcedLimits }>;

/** The limits and models that are set for a holder. Null and undefined mean that a default applies. */
type LimitRow = LimitColumns & {
  modelAccess?: ModelAccess | null;
  allowedModelIds?: readonly string[];
  keysMax?: number | null;
};

type LimitRows = ReadonlyMap<string, LimitRow>;

/** Resolves the limits of each holder once after a change, so that a request only reads them. */
export class LimitsInForce {
  readonly #settings: Readonly<Record<LimitHolder, LimitColumns>>;
  #rows: LimitRows = new Map();
  #defaults: Readonly<Record<LimitHolder, Defaults>>;
  /** The limits of holders with a row, by ID. */
  readonly #resolved = new Map<string, EnforcedLimits>();
  /** The limits of recently used keys. By object and not by ID, because a rotated key is cached once per value. */
  #keys = new WeakMap<LimitedKey, KeyLimits>();
  /** Increases with each change. */
  version = 0;

  constructor(settings: Settings) {
    this.#settings = byName(kinds, (kind) => limitsOfSettings(holderOf(kind), settings));
    this.#defaults = this.#resolveDefaults();
  }

  /**
   * @param rows the limits that are set, by holder
   * @param changed the only holder that `rows` has. Null if it has all.
   */
  use(rows: LimitRows, changed: string | null = null): void {
    this.#rows = changed === null ? rows : new Map([...this.#rows, ...rows]);
    this.#defaults = this.#resolveDefaults();
    this.#resolved.clear();
    this.#keys = new WeakMap();
    this.version++;
  }

  of(key: LimitedKey): KeyLimits {
    const known = this.#keys.get(key);
    if (known) return known;
    const all = holderKinds.flatMap((holder) => {
      const id = holder.idOf(key);
      return id === null ? [] : [{ holder, id, limits: this.enforced(holder, id, key.limits) }];
    });
    const budgeted = all.filter((each) => each.limits.budgets !== null);
    const addressRanges = all.flatMap((each) => each.limits.addressRanges ?? []);
    const found = { all, budgeted, addressRanges, fence: this.#fenceOf(key) };
    this.#keys.set(key, found);
    return found;
  }

  /** The number of keys that a member may own. Null without a limit. */
  keysMaxOf(userId: string): number | null {
    const { rowForEach = "" } = holderOf("person");
    return this.#rows.get(userId)?.keysMax ?? this.#rows.get(rowForEach)?.keysMax ?? null;
  }

  #fenceOf(key: HeldKey): ReadonlySet<string> | null {
    const payer = holderKinds.find(({ isPayer, idOf }) => isPayer && idOf(key) !== null);
    const ids = payer ? [payer.idOf(key), payer.rowForEach] : [];
    const row = ids.map((id) => this.#rows.get(id ?? "")).find((each) => each?.modelAccess);
    return row?.modelAccess === "listed" ? new Set(row.allowedModelIds) : null;
  }

  /** @param ofKey the limits of a key itself, which matter only if the holder is the key */
  enforced(holder: Holder, id: string, ofKey: LimitColumns | null = null): EnforcedLimits {
    const { columns, enforced } = this.#defaults[holder.kind];
    if (!holder.isRowOf) return ofKey === null ? enforced : enforcedLimits(firstLimits(ofKey, columns));
    const row = this.#rows.get(id);
    if (row === undefined) return enforced;
    let resolved = this.#resolved.get(id);
    if (!resolved) this.#resolved.set(id, (resolved = enforcedLimits(firstLimits(row, columns))));
    return resolved;
  }

  /** The limits of a kind's holders that have none of their own. */
  defaultsOf(kind: LimitHolder): LimitColumns {
    return this.#defaults[kind].columns;
  }

  settingsOf(kind: LimitHolder): LimitColumns {
    return this.#settings[kind];
  }

  /** Drops what is kept of recently used keys. */
  sweep(): void {
    this.#keys = new WeakMap();
  }

  #resolveDefaults(): Record<LimitHolder, Defaults> {
    return byName(kinds, (kind) => {
      const { rowForEach = "" } = holderOf(kind);
      const columns = firstLimits(this.#rows.get(rowForEach) ?? null, this.#settings[kind]);
      return { columns, enforced: enforcedLimits(columns) };
    });
  }
}

const kinds = holderKinds.map(({ kind }) => kind);

/** A setting of 0 means no limit. */
function limitsOfSettings(holder: Holder, settings: Settings): LimitColumns {
  const columns: Record<string, number> = {};
  for (const { column, unit } of limitTable) {
    const name = holder.settings[column];
    const value = name === undefined ? 0 : settings[name];
    if (value > 0) columns[column] = unit === "nano-dollars" ? toNanoDollars(value) : value;
  }
  return { ...noLimitColumns, ...columns };
}
