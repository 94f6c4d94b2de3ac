import type { LimitColumns } from "../../db/entities/limits.ts";
import type { Settings } from "../config/variables.ts";
import type { LimitHolder } from "../errors.ts";
import type { AddressRanges } from "./address-ranges.ts";
import { type Holder, holderKinds, holderOf, type LimitedKey } from "./holders.ts";
import {
  byName,
  type EnforcedLimits,
  enforcedLimits,
  firstLimits,
  limitTable,
  noLimitColumns,
  toNanoDollars,
} from "./limit-table.ts";

/** A holder of a key, with its ID and the limits that requests meet. */
type HeldLimits = Readonly<{ holder: Holder; id: string; limits: EnforcedLimits }>;

/** All limits of a key's requests. The object stays the same until one of the limits may have changed. */
export type KeyLimits = Pick<LimitedKey, "limits" | "ownerId"> &
  Readonly<{
    all: readonly HeldLimits[];
    /** Those with a budget. */
    budgeted: readonly HeldLimits[];
    /** A client's address must be in each of them. */
    addressRanges: readonly AddressRanges[];
  }>;

/** The limits of each holder of a kind that has none of its own. */
type Defaults = Readonly<{ columns: LimitColumns; enforced: EnforcedLimits }>;

type LimitRows = ReadonlyMap<string, LimitColumns>;

/** Resolves the limits of each holder once after a change, so that a request only reads them. */
export class LimitsInForce {
  readonly #settings: Readonly<Record<LimitHolder, LimitColumns>>;
  #rows: LimitRows = new Map();
  #defaults: Readonly<Record<LimitHolder, Defaults>>;
  /** The limits of holders with a row, by ID. */
  readonly #resolved = new Map<string, EnforcedLimits>();
  /** The limits of recently used keys, by key ID. */
  readonly #keys = new Map<string, KeyLimits>();

  constructor(settings: Settings) {
    this.#settings = byName(kinds, (kind) => limitsOfSettings(holderOf(kind), settings));
    this.#defaults = this.#resolveDefaults();
  }

  /** @param rows the limits that are set, by holder */
  use(rows: LimitRows): void {
    this.#rows = rows;
    this.#defaults = this.#resolveDefaults();
    this.#resolved.clear();
    this.#keys.clear();
  }

  of(key: LimitedKey): KeyLimits {
    const known = this.#keys.get(key.id);
    if (known?.limits === key.limits && known.ownerId === key.ownerId) return known;
    const all = holderKinds.flatMap((holder) => {
      const id = holder.idOf(key);
      return id === null ? [] : [{ holder, id, limits: this.enforced(holder, id, key.limits) }];
    });
    const { limits, ownerId } = key;
    const budgeted = all.filter((each) => each.limits.budgets !== null);
    const addressRanges = all.flatMap((each) => each.limits.addressRanges ?? []);
    const found = { limits, ownerId, all, budgeted, addressRanges };
    this.#keys.set(key.id, found);
    return found;
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
    this.#keys.clear();
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
