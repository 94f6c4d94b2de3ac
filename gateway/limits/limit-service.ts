import type { Database, Repositories } from "../../db/database.ts";
import type { LimitColumns, ModelAccess } from "../../db/entities/limits.ts";
import { type AuditLog, differences } from "../audit/audit-log.ts";
import type { Changes } from "../audit/changes.ts";
import { requirePermission } from "../auth/permissions.ts";
import type { Author, Person } from "../auth/person.ts";
import { changedMeanwhile, GatewayError } from "../errors.ts";
import { modelIds, refusingDeletedModels } from "./model-ids.ts";
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
  /** Whether keys may use all models, or only `models`. Null if the default applies. */
  modelAccess: ModelAccess | null;
  models: string[];
  /** The number of keys that a member may own. Null if the default applies. */
  keysMax: number | null;
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

  /**
   * Throws `conflict` if the limits no longer have the given revision, and `invalid_value` for a list of models of a
   * holder that is not a payer.
   */
  set(
    author: Author,
    { holder, limits = {}, modelAccess, models, keysMax, revision }: HolderChanges,
  ): Promise<HolderLimits> {
    const { changeFeed, audit } = this.#options;
    const setting = changeFeed.edit("limits", async (repositories) => {
      // Two administrators can set the first limits of a holder at the same time.
      await repositories.changes.lock();
      const { kind, name } = await findHolder(repositories, holder);
      if (!kind.isPayer && (modelAccess ?? models) !== undefined) throw noModelsOf(name);
      if (kind.kind !== "person" && keysMax !== undefined) throw noKeysOf(name);
      const before = (await repositories.limits.find(holder)) ?? noRow;
      if (revision !== undefined && revision !== before.revision)
        throw changedMeanwhile("limits", before.revision);
      const columns = changeLimits(before, limits);
      const payer = {
        modelAccess: modelAccess === undefined ? before.modelAccess : modelAccess,
        keysMax: keysMax === undefined ? before.keysMax : keysMax,
      };
      const old = await this.#describe(repositories, holder);
      await repositories.limits.put({ holder, ...columns, ...payer, revision: before.revision + 1 });
      if (models) await repositories.limits.setAllowed(holder, await modelIds(repositories, models));
      const described = await this.#describe(repositories, holder);
      const details = differences({ ...old, ...old.limits }, { ...described, ...described.limits }, [
        ...limitNames,
        "modelAccess",
        "models",
        "keysMax",
      ]);
      const entity = { id: holder, name };
      await audit.record(repositories, author, "limits.set", entity, details);
      return [holder, described];
    });
    return refusingDeletedModels(setting);
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
    const { modelAccess, keysMax, revision, ...columns } = row ?? noRow;
    const models = await repositories.limits.allowedSlugs(holder);
    return { holder, name, limits: toLimits(columns), modelAccess, models, keysMax, inForce, revision };
  }
}

const noRow = { ...noLimitColumns, modelAccess: null, keysMax: null, revision: 0 };

type HolderChanges = {
  holder: string;
  limits?: LimitChanges | undefined;
  modelAccess?: ModelAccess | null | undefined;
  models?: string[] | undefined;
  keysMax?: number | null | undefined;
  revision?: number | undefined;
};

function noModelsOf(name: string): GatewayError {
  const message = `${name} has no list of models. Set the models of each person, of one person or of a team.`;
  return new GatewayError("invalid_value", message, { param: "modelAccess" });
}

function noKeysOf(name: string): GatewayError {
  const message = `${name} is not a person. Set the number of keys of each person or of one person.`;
  return new GatewayError("invalid_value", message, { param: "keysMax" });
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
