import type { Database, Repositories } from "../../db/database.ts";
import type { ApiKeyRow, ApiKeyValueRow } from "../../db/entities/api-key.ts";
import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import { ownerScope, type Person } from "../auth/person.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { generateKeyValue, hashKeyValue, lastFourOf, maskKeyValue } from "./key-value.ts";

/** An API key as people see it. */
export type ApiKey = {
  id: string;
  name: string;
  maskedValue: string;
  status: "active" | "disabled";
  models: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  owner: { id: string; name: string } | null;
};

/** A key with its value, which is told this once. */
export type NewApiKey = { key: ApiKey; value: string };

export type KeyListQuery = {
  search?: string | undefined;
  status?: "active" | "disabled" | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
};

export type NewKey = { name: string; models?: string[] | undefined; expiresAt?: Date | null | undefined };

type KeyServiceOptions = { database: Database; runtime: Runtime; changeFeed: ChangeFeed };

/** Everything people do with API keys. A member's own keys are all the keys there are for that member. */
export class KeyService {
  readonly #database: Database;
  readonly #runtime: Runtime;
  readonly #changeFeed: ChangeFeed;

  constructor({ database, runtime, changeFeed }: KeyServiceOptions) {
    this.#database = database;
    this.#runtime = runtime;
    this.#changeFeed = changeFeed;
  }

  /** Newest first. */
  async list(person: Person, query: KeyListQuery): Promise<{ items: ApiKey[]; nextCursor: string | null }> {
    const limit = query.limit ?? keysPerPage;
    const page = {
      owner: ownerScope(person),
      search: query.search,
      status: query.status,
      beforeId: query.cursor,
    };
    const found = await this.#database.read(({ apiKeys }) => apiKeys.list({ ...page, limit: limit + 1 }));
    const items = found.slice(0, limit).map(toApiKey);
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  async get(person: Person, id: string): Promise<ApiKey> {
    return this.#database.read(async (repositories) => toApiKey(await findKey(repositories, person, id)));
  }

  async create(person: Person, { name, models = [], expiresAt = null }: NewKey): Promise<NewApiKey> {
    if (expiresAt !== null && expiresAt.getTime() <= this.#runtime.now()) {
      throw new GatewayError("invalid_value", "The expiry is in the past.", { param: "expiresAt" });
    }
    const { key, value, row } = this.#newKey(name, person.id, expiresAt);
    const created = await this.#database.write(async (repositories) => {
      await repositories.apiKeys.insert(key, row, await modelIds(repositories, models));
      return toApiKey(await findKey(repositories, person, key.id));
    });
    return { key: created, value };
  }

  /** The key of the first start, which belongs to nobody yet. Part of a larger transaction. */
  async createFirst({ apiKeys }: Repositories, name: string, modelId: string): Promise<string> {
    const { key, value, row } = this.#newKey(name, null, null);
    await apiKeys.insert(key, row, [modelId]);
    return value;
  }

  rename(person: Person, id: string, name: string): Promise<ApiKey> {
    return this.#change(person, id, ({ apiKeys }) => apiKeys.update(id, { name }));
  }

  setModels(person: Person, id: string, slugs: string[]): Promise<ApiKey> {
    return this.#change(person, id, async (repositories) => {
      await repositories.apiKeys.setModels(id, await modelIds(repositories, slugs));
    });
  }

  activate(person: Person, id: string): Promise<ApiKey> {
    return this.#change(person, id, ({ apiKeys }) => apiKeys.update(id, { status: "active" }));
  }

  deactivate(person: Person, id: string): Promise<ApiKey> {
    return this.#change(person, id, ({ apiKeys }) => apiKeys.update(id, { status: "disabled" }));
  }

  /** A new value for the same key; the old one goes on counting for `overlapSeconds`. */
  async rotate(person: Person, id: string, overlapSeconds: number): Promise<NewApiKey> {
    const value = generateKeyValue(this.#runtime);
    const now = this.#runtime.now();
    const key = await this.#change(person, id, ({ apiKeys }) =>
      apiKeys.replaceValue(this.#valueRow(id, value), new Date(now + overlapSeconds * 1000)),
    );
    return { key, value };
  }

  /** For good. What the key used stays in the history, under its name. */
  async delete(person: Person, id: string): Promise<void> {
    await this.#database.write(async (repositories) => {
      await findKey(repositories, person, id);
      await repositories.apiKeys.delete(id);
      await repositories.changes.append("api_key", id, new Date(this.#runtime.now()));
    });
    await this.#changeFeed.catchUp();
  }

  async #change(
    person: Person,
    id: string,
    work: (repositories: Repositories) => Promise<void>,
  ): Promise<ApiKey> {
    const key = await this.#database.write(async (repositories) => {
      await findKey(repositories, person, id);
      await work(repositories);
      await repositories.changes.append("api_key", id, new Date(this.#runtime.now()));
      return toApiKey(await findKey(repositories, person, id));
    });
    await this.#changeFeed.catchUp();
    return key;
  }

  #newKey(name: string, ownerId: string | null, expiresAt: Date | null) {
    const value = generateKeyValue(this.#runtime);
    const id = createId("key", this.#runtime);
    const createdAt = new Date(this.#runtime.now());
    const key: ApiKeyRow = { id, name, status: "active", ownerId, expiresAt, lastUsedAt: null, createdAt };
    return { key, value, row: this.#valueRow(id, value) };
  }

  #valueRow(apiKeyId: string, value: string): ApiKeyValueRow {
    const createdAt = new Date(this.#runtime.now());
    return { hash: hashKeyValue(value), apiKeyId, lastFour: lastFourOf(value), validUntil: null, createdAt };
  }
}

const keysPerPage = 50;

async function findKey({ apiKeys }: Repositories, person: Person, id: string): Promise<ApiKeyDetails> {
  const found = await apiKeys.find(id, ownerScope(person));
  if (!found) throw new GatewayError("not_found", "There is no API key with this id.", { param: "id" });
  return found;
}

async function modelIds({ models }: Repositories, slugs: string[]): Promise<string[]> {
  const found = await models.findBySlugs(slugs);
  const known = new Set(found.map((model) => model.slug));
  const unknown = slugs.filter((slug) => !known.has(slug));
  if (unknown.length > 0) {
    throw new GatewayError("invalid_value", `There is no model ${unknown.join(", ")}.`, { param: "models" });
  }
  return found.map((model) => model.id);
}

function toApiKey({ key, values, models, owner }: ApiKeyDetails): ApiKey {
  // After a rotation the old value counts for a while too, but only the new one without an end.
  const current = values.find((value) => value.validUntil === null) ?? values[0];
  return {
    id: key.id,
    name: key.name,
    maskedValue: maskKeyValue(current?.lastFour ?? ""),
    status: key.status,
    models: models.map((model) => model.slug),
    createdAt: key.createdAt,
    lastUsedAt: key.lastUsedAt,
    expiresAt: key.expiresAt,
    owner,
  };
}
