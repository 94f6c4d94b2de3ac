import type { Database, Repositories } from "../../db/database.ts";
import type { LimitColumns } from "../../db/entities/limits.ts";
import { type AuditLog, differences } from "../audit/audit-log.ts";
import type { Changes } from "../audit/changes.ts";
import { requirePermission } from "../auth/permissions.ts";
import type { Author, Person } from "../auth/person.ts";
import { changedMeanwhile, GatewayError } from "../errors.ts";
import { eitherOf, type Holder, holderKinds, type LimitsInForce } from "./holders.ts";
import {
  changeLimits,
  type LimitChanges,
  type Limits,
  limitNames,
  limitTable,
  noLimitColumns,
  toLimits,
  toUsd,
} from "./limit-table.ts";

/** The limits of `gateway`, of a user, of a team, or of each user (`people`) or key (`keys`) without limits of its own. */
type HolderLimits = {
  holder: string;
  name: string;
  limits: Limits;
  /** The limits in force, in a fixed order. Limits that nothing sets are missing. */
  inForce: LimitInForce[];
  /** Increases with each change. 0 until the first. */
  revision: number;
};

type LimitInForce = {
  /** The path in `limits`, such as `budgetsUsd.day`. */
  limit: string;
  value: number | string[];
  /** `own`, the holder with the default (`people`), or `environment`. */
  source: string;
  /** The environment variable. Null unless it is the source. */
  variable: string | null;
};

type LimitServiceOptions = {
  database: Database;
  changeFeed: Changes;
  audit: AuditLog;
  limitsInForce: LimitsInForce;
};

export class LimitService {
  readonly #options: LimitServiceOptions;

  constructor(options: LimitServiceOptions) {
    this.#options = options;
  }

  /** Members see only their own limits and those of their teams. Throws `not_found` for an unknown holder. */
  async get(person: Person, holder: string): Promise<HolderLimits> {
    return this.#options.database.read(async (repositories) => {
      if (holder !== person.id && (await repositories.teams.roleOf(holder, person.id)) === null)
        requirePermission(person, "limits.ofOthers");
      return this.#describe(repositories, holder);
    });
  }

  /** Throws `conflict` if the limits no longer have the given revision. */
  set(author: Author, holder: string, changes: LimitChanges, revision?: number): Promise<HolderLimits> {
    const { changeFeed, audit } = this.#options;
    return changeFeed.edit("limits", async (repositories) => {
      // Two administrators can set the first limits of a holder at the same time.
      await repositories.changes.lock();
      const { name } = await findHolder(repositories, holder);
      const before = (await repositories.limits.find(holder)) ?? { ...noLimitColumns, revision: 0 };
      if (revision !== undefined && revision !== before.revision)
        throw changedMeanwhile("limits", before.revision);
      const columns = changeLimits(before, changes);
      await repositories.limits.put({ holder, ...columns, revision: before.revision + 1 });
      const details = differences(toLimits(before), toLimits(columns), limitNames);
      const entity = { id: holder, name };
      await audit.record(repositories, author, "limits.set", entity, details);
      return [holder, await this.#describe(repositories, holder)];
    });
  }

  async #describe(repositories: Repositories, holder: string): Promise<HolderLimits> {
    const { kind, name } = await findHolder(repositories, holder);
    const row = await repositories.limits.find(holder);
    const { rowForEach = holder } = kind;
    const each = rowForEach === holder ? null : await repositories.limits.find(rowForEach);
    const settings = this.#options.limitsInForce.settingsOf(kind.kind);
    const sources: [source: string, columns: LimitColumns | null][] = [
      ["own", row],
      [rowForEach, each],
      ["environment", settings],
    ];
    const inForce = limitTable.flatMap(({ path, column, unit }) => {
      const [source, columns] = sources.find(([, set]) => set && set[column] !== null) ?? [];
      const value = columns?.[column];
      if (source === undefined || value === null || value === undefined) return [];
      const setting = source === "environment" ? kind.settings[column] : undefined;
      const variable = setting === undefined ? null : toVariable(setting);
      const shown = unit === "nano-dollars" && typeof value === "number" ? toUsd(value) : value;
      return [{ limit: path, value: shown, source, variable }];
    });
    return { holder, name, limits: toLimits(row ?? noLimitColumns), inForce, revision: row?.revision ?? 0 };
  }
}

/** The name of the variable that sets a setting. */
function toVariable(setting: string): string {
  return setting.replaceAll(/[A-Z]/g, "_$&").toUpperCase();
}

/** Throws `not_found` for an unknown holder. */
async function findHolder(repositories: Repositories, id: string): Promise<{ kind: Holder; name: string }> {
  const kind = holderKinds.find(({ isRowOf, rowForEach }) => rowForEach === id || isRowOf?.(id));
  const name = kind?.rowNames[id] ?? (await kind?.findName?.(repositories, id));
  if (kind && name !== undefined) return { kind, name };
  const names = holderKinds.flatMap(({ rowNames }) => Object.keys(rowNames)).toReversed();
  const ids = holderKinds.flatMap(({ rowIds }) => rowIds ?? []);
  const message = `No holder of limits has this ID. Use ${eitherOf([...names, ...ids])}.`;
  throw new GatewayError("not_found", message, { param: "holder" });
}
