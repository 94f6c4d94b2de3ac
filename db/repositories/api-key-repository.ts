import { type EntityManager, type FindOperator, In, LessThan, Raw } from "typeorm";
import {
  ApiKey,
  ApiKeyModel,
  type ApiKeyRow,
  ApiKeyValue,
  type ApiKeyValueRow,
} from "../entities/api-key.ts";
import { Model } from "../entities/model.ts";
import { User } from "../entities/user.ts";

/** A key with what belongs to it. Of a rotated key's values the newest comes first. */
export type ApiKeyDetails = {
  key: ApiKeyRow;
  values: ApiKeyValueRow[];
  models: { id: string; slug: string }[];
  owner: { id: string; name: string } | null;
};

/** Whose keys: one person's, or everybody's. It is part of every condition, so that a foreign id finds nothing. */
export type OwnerScope = { ownerId: string } | "everyone";

export type ApiKeyPage = {
  owner: OwnerScope;
  search?: string | undefined;
  status?: ApiKeyRow["status"] | undefined;
  beforeId?: string | undefined;
  limit: number;
};

export class ApiKeyRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  async findByHash(
    hash: string,
  ): Promise<{ value: ApiKeyValueRow; key: ApiKeyRow; modelIds: string[] } | null> {
    const value = await this.#manager.findOneBy(ApiKeyValue, { hash });
    const key = value && (await this.#manager.findOneBy(ApiKey, { id: value.apiKeyId }));
    if (!value || !key) return null;
    const connections = await this.#manager.findBy(ApiKeyModel, { apiKeyId: key.id });
    return { value, key, modelIds: connections.map((connection) => connection.modelId) };
  }

  async find(id: string, owner: OwnerScope): Promise<ApiKeyDetails | null> {
    const key = await this.#manager.findOneBy(ApiKey, { id, ...ownedBy(owner) });
    return key && ((await this.#details([key]))[0] ?? null);
  }

  /** Newest first. */
  async list(page: ApiKeyPage): Promise<ApiKeyDetails[]> {
    const keys = await this.#manager.find(ApiKey, {
      where: {
        ...ownedBy(page.owner),
        ...(page.status && { status: page.status }),
        ...(page.search && { name: containing(page.search) }),
        ...(page.beforeId && { id: LessThan(page.beforeId) }),
      },
      order: { id: "DESC" },
      take: page.limit,
    });
    return this.#details(keys);
  }

  async count(): Promise<number> {
    return this.#manager.count(ApiKey);
  }

  async insert(key: ApiKeyRow, value: ApiKeyValueRow, modelIds: string[]): Promise<void> {
    await this.#manager.insert(ApiKey, key);
    await this.#manager.insert(ApiKeyValue, value);
    await this.#connect(key.id, modelIds);
  }

  async update(
    id: string,
    changes: Partial<Pick<ApiKeyRow, "name" | "status" | "lastUsedAt">>,
  ): Promise<void> {
    await this.#manager.update(ApiKey, { id }, changes);
  }

  async delete(id: string): Promise<void> {
    await this.#manager.delete(ApiKey, { id });
  }

  async setModels(id: string, modelIds: string[]): Promise<void> {
    await this.#manager.delete(ApiKeyModel, { apiKeyId: id });
    await this.#connect(id, modelIds);
  }

  /** Ends every value the key has at `validUntil` (a value that ends sooner stays so), then adds the new one. */
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
    const owners = await this.#manager.find(User, {
      select: { id: true, name: true },
      where: { id: In(keys.flatMap((key) => key.ownerId ?? [])) },
    });
    const connected = Map.groupBy(connections, (connection) => connection.apiKeyId);
    return keys.map((key) => {
      const modelIds = new Set(connected.get(key.id)?.map((connection) => connection.modelId));
      return {
        key,
        values: values.filter((value) => value.apiKeyId === key.id),
        models: models.filter((model) => modelIds.has(model.id)),
        owner: owners.find((owner) => owner.id === key.ownerId) ?? null,
      };
    });
  }
}

function ownedBy(owner: OwnerScope): { ownerId?: string } {
  return owner === "everyone" ? {} : { ownerId: owner.ownerId };
}

/** Whatever the case; `%` and `_` are meant as they stand. */
function containing(text: string): FindOperator<string> {
  const pattern = `%${text.toLowerCase().replaceAll(/[%_!]/g, "!$&")}%`;
  return Raw((column) => `LOWER(${column}) LIKE :pattern ESCAPE '!'`, { pattern });
}
