import { type EntityManager, In, IsNull, LessThan, Not, Raw } from "typeorm";
import {
  ApiKey,
  ApiKeyModel,
  type ApiKeyRow,
  ApiKeyValue,
  type ApiKeyValueRow,
} from "../entities/api-key.ts";
import { Model } from "../entities/model.ts";
import type { TeamRow } from "../entities/team.ts";
import { User, type UserRow } from "../entities/user.ts";
import { type ApiKeyFilter, hasBudget, matching, ownedBy, type OwnerScope } from "./api-key-filter.ts";
import { TeamRepository } from "./team-repository.ts";
import { WithheldModelRepository } from "./withheld-model-repository.ts";

/** `values` starts with the newest value. */
export type ApiKeyDetails = {
  key: ApiKeyRow;
  values: ApiKeyValueRow[];
  models: { id: string; slug: string }[];
  /** The slugs of withheld models, including deleted models. */
  withheldModels: string[];
  owner: Pick<UserRow, "id" | "name" | "status" | "keepKeys"> | null;
  team: Pick<TeamRow, "id" | "name" | "status"> | null;
};

/** A key as requests need it. */
type FoundByHash = { value: ApiKeyValueRow; key: ApiKeyRow; modelIds: string[]; stoppedBy: Stopper | null };

/** Whose status stops a key. */
export type Stopper = "owner" | "team";

/** Null if the key's owner and team let it work. */
export function stopperOf({ owner, team }: Pick<ApiKeyDetails, "owner" | "team">): Stopper | null {
  if (owner?.status === "disabled" && !owner.keepKeys) return "owner";
  return team && team.status !== "active" ? "team" : null;
}

export type ApiKeyPage = ApiKeyFilter & { beforeId?: string | undefined; limit: number };

export class ApiKeyRepository {
  readonly #manager: EntityManager;
  readonly #teams: TeamRepository;

  constructor(manager: EntityManager) {
    this.#manager = manager;
    this.#teams = new TeamRepository(manager);
  }

  async findByHash(hash: string): Promise<FoundByHash | null> {
    const value = await this.#manager.findOneBy(ApiKeyValue, { hash });
    const key = value && (await this.#manager.findOneBy(ApiKey, { id: value.apiKeyId }));
    if (!value || !key) return null;
    const connections = await this.#manager.findBy(ApiKeyModel, { apiKeyId: key.id });
    const modelIds = connections.map((connection) => connection.modelId);
    return { value, key, modelIds, stoppedBy: await this.#stopperOf(key) };
  }

  async find(id: string): Promise<ApiKeyDetails | null> {
    const key = await this.#manager.findOneBy(ApiKey, { id });
    return key && ((await this.#details([key]))[0] ?? null);
  }

  /** Lists the newest keys first. */
  async list(page: ApiKeyPage): Promise<ApiKeyDetails[]> {
    const { limit: take, ...filter } = page;
    return this.#details(
      await this.#manager.find(ApiKey, { where: matching(filter), order: { id: "DESC" }, take }),
    );
  }

  /** The keys with a value that ends in `lastFour`, newest first. */
  async listByLastFour(lastFour: string, owner: OwnerScope, take: number): Promise<ApiKeyDetails[]> {
    const ending = (column: string) =>
      `${column} IN (SELECT api_key_id FROM api_key_values WHERE last_four = :lastFour)`;
    const where = { id: Raw(ending, { lastFour }), ...ownedBy(owner) };
    return this.#details(await this.#manager.find(ApiKey, { where, order: { id: "DESC" }, take }));
  }

  count(filter: ApiKeyFilter): Promise<number> {
    return this.#manager.count(ApiKey, { where: matching(filter) });
  }

  /** The keys that expire first if the filter selects by expiry, otherwise the oldest keys. */
  first(filter: ApiKeyFilter, take: number): Promise<ApiKeyRow[]> {
    const order = filter.expires ? ({ expiresAt: "ASC" } as const) : ({ id: "ASC" } as const);
    return this.#manager.find(ApiKey, { where: matching(filter), order, take });
  }

  newestActive(owner: OwnerScope, take: number): Promise<ApiKeyRow[]> {
    return this.#manager.find(ApiKey, {
      where: matching({ owner, status: "active" }),
      order: { id: "DESC" },
      take,
    });
  }

  /** The newest active keys with a budget. */
  listBudgeted(owner: OwnerScope, take: number): Promise<ApiKeyRow[]> {
    return this.#manager.find(ApiKey, { where: hasBudget(owner), order: { id: "DESC" }, take });
  }

  /** Ignores keys without an owner, such as the key of the first start. */
  async existsOf(owner: OwnerScope): Promise<boolean> {
    const where = owner === "everyone" ? { ownerId: Not(IsNull()) } : ownedBy(owner);
    return this.#manager.exists(ApiKey, { where });
  }

  /**
   * The number of keys of each owner or team. Omits those without keys.
   * @param ofTeams counts only keys that a team pays for
   */
  async countBy(
    column: "ownerId" | "teamId",
    ids: string[],
    { ofTeams = false } = {},
  ): Promise<Map<string, number>> {
    const rows = await this.#manager
      .createQueryBuilder(ApiKey, "held")
      .select(`held.${column}`, "id")
      .addSelect("COUNT(*)", "count")
      .where(`held.${column} IN (:...ids)`, { ids: ids.length > 0 ? ids : [""] })
      .andWhere(ofTeams ? "held.teamId IS NOT NULL" : "1 = 1")
      .groupBy(`held.${column}`)
      .getRawMany<CountRow>();
    return toCounts(rows);
  }

  /**
   * Turns an owner's keys of a team, or of all teams, into service keys, and returns their IDs.
   * @param teamId by default, all teams
   */
  async handOver(ownerId: string, teamId?: string): Promise<string[]> {
    const where = { ownerId, teamId: teamId ?? Not(IsNull()) };
    const keys = await this.#manager.find(ApiKey, { select: { id: true }, where });
    await this.#manager.update(ApiKey, where, { ownerId: null });
    return keys.map(({ id }) => id);
  }

  /** The number of keys connected to each model. Omits models without keys. */
  async countByModel(owner: OwnerScope): Promise<Map<string, number>> {
    const query = this.#manager
      .createQueryBuilder(ApiKeyModel, "connection")
      .select("connection.modelId", "id")
      .addSelect("COUNT(*)", "count")
      .groupBy("connection.modelId");
    if (owner !== "everyone") {
      query
        .innerJoin(ApiKey.options.name, "owned", "owned.id = connection.apiKeyId")
        .where("owned.ownerId = :ownerId", { ownerId: owner.ownerId });
    }
    return toCounts(await query.getRawMany<CountRow>());
  }

  /** The keys connected to at least one of the models, newest first. */
  async connectedTo(modelIds: string[]): Promise<Pick<ApiKeyRow, "id" | "name" | "status">[]> {
    const connections = await this.#manager.findBy(ApiKeyModel, { modelId: In(modelIds) });
    return this.#manager.find(ApiKey, {
      select: { id: true, name: true, status: true },
      where: { id: In(connections.map(({ apiKeyId }) => apiKeyId)) },
      order: { id: "DESC" },
    });
  }

  /** Maps IDs to names. Omits deleted keys. */
  async names(ids: string[]): Promise<Map<string, string>> {
    const keys = await this.#manager.find(ApiKey, {
      select: { id: true, name: true },
      where: { id: In(ids) },
    });
    return new Map(keys.map(({ id, name }) => [id, name]));
  }

  async insert(key: ApiKeyRow, value: ApiKeyValueRow, modelIds: string[]): Promise<void> {
    await this.#manager.insert(ApiKey, key);
    await this.#manager.insert(ApiKeyValue, value);
    await this.#connect(key.id, modelIds);
  }

  /**
   * Increases the revision and locks the key until the transaction ends. Returns false if the key is missing or
   * has another revision.
   */
  async nextRevision(id: string, revision: number | undefined): Promise<boolean> {
    const where = revision === undefined ? { id } : { id, revision };
    const { affected } = await this.#manager.update(ApiKey, where, { revision: () => "revision + 1" });
    return affected !== 0;
  }

  async update(
    id: string,
    changes: Partial<Omit<ApiKeyRow, "id" | "teamId" | "revision" | "createdAt">>,
  ): Promise<void> {
    await this.#manager.update(ApiKey, { id }, changes);
  }

  /** Returns whether the key existed: of two concurrent deletions, only one returns true. */
  async delete(id: string): Promise<boolean> {
    const { affected } = await this.#manager.delete(ApiKey, { id });
    return affected !== 0;
  }

  async setModels(id: string, modelIds: string[]): Promise<void> {
    await this.#manager.delete(ApiKeyModel, { apiKeyId: id });
    await this.#connect(id, modelIds);
  }

  /** Adds `value`. The key's other values expire at `validUntil` or sooner, and expired values are deleted. */
  async replaceValue(value: ApiKeyValueRow, validUntil: Date): Promise<void> {
    const { apiKeyId } = value;
    for (const old of await this.#manager.findBy(ApiKeyValue, { apiKeyId })) {
      if (old.validUntil === null || old.validUntil > validUntil) {
        await this.#manager.update(ApiKeyValue, { hash: old.hash }, { validUntil });
      }
    }
    await this.#manager.delete(ApiKeyValue, { apiKeyId, validUntil: LessThan(value.createdAt) });
    await this.#manager.insert(ApiKeyValue, value);
  }

  /** Plain SQL, because TypeORM's two queries would cost a multiple. */
  async #stopperOf({ ownerId, teamId }: ApiKeyRow): Promise<Stopper | null> {
    if (ownerId === null && teamId === null) return null;
    const working = "SELECT 1 FROM users WHERE id = ? AND (status <> 'disabled' OR keep_keys = 1)";
    const active = "SELECT 1 FROM teams WHERE id = ? AND status = 'active'";
    const [found] = await this.#manager.query<{ owner: unknown; team: unknown }[]>(
      `SELECT EXISTS (${working}) AS owner, EXISTS (${active}) AS team`,
      [ownerId, teamId],
    );
    if (ownerId !== null && Number(found?.owner) === 0) return "owner";
    return teamId !== null && Number(found?.team) === 0 ? "team" : null;
  }

  async #connect(apiKeyId: string, modelIds: string[]): Promise<void> {
    if (modelIds.length === 0) return;
    await this.#manager.insert(
      ApiKeyModel,
      modelIds.map((modelId) => ({ apiKeyId, modelId })),
    );
  }

  async #details(keys: ApiKeyRow[]): Promise<ApiKeyDetails[]> {
    if (keys.length === 0) return [];
    const apiKeyId = In(keys.map((key) => key.id));
    const values = await this.#manager.find(ApiKeyValue, {
      where: { apiKeyId },
      order: { createdAt: "DESC" },
    });
    const connections = await this.#manager.findBy(ApiKeyModel, { apiKeyId });
    const models = await this.#manager.find(Model, {
      select: { id: true, slug: true },
      where: { id: In(connections.map((connection) => connection.modelId)) },
      order: { slug: "ASC" },
    });
    const withheld = await new WithheldModelRepository(this.#manager).listByKey(keys.map(({ id }) => id));
    const owners = await this.#manager.find(User, {
      select: { id: true, name: true, status: true, keepKeys: true },
      where: { id: In(keys.flatMap((key) => key.ownerId ?? [])) },
    });
    const teams = await this.#teams.listByIds([...new Set(keys.flatMap((key) => key.teamId ?? []))]);
    const connected = Map.groupBy(connections, (connection) => connection.apiKeyId);
    return keys.map((key) => {
      const modelIds = new Set(connected.get(key.id)?.map((connection) => connection.modelId));
      return {
        key,
        values: values.filter((value) => value.apiKeyId === key.id),
        models: models.filter((model) => modelIds.has(model.id)),
        withheldModels: withheld.get(key.id) ?? [],
        owner: owners.find((owner) => owner.id === key.ownerId) ?? null,
        team: teams.find((team) => team.id === key.teamId) ?? null,
      };
    });
  }
}

type CountRow = { id: string; count: number | string };

function toCounts(rows: CountRow[]): Map<string, number> {
  return new Map(rows.map(({ id, count }) => [id, Number(count)]));
}
