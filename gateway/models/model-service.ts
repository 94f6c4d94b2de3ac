import type { Database, Repositories } from "../../db/database.ts";
import { DuplicateError } from "../../db/database-errors.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { ModelReference } from "../../db/repositories/model-repository.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { Runtime } from "../runtime.ts";
import { fromPriceColumns, type Prices, toPriceColumns } from "./prices.ts";
import { parseSlug } from "./slug.ts";

/** A model as people see it. Prices are US dollars per million tokens. */
export type Model = {
  id: string;
  slug: string;
  providerId: string;
  upstreamModel: string;
  prices: Prices;
  contextWindow: number | null;
  outputTokensMax: number | null;
  createdAt: Date;
};

export type ModelChanges = {
  upstreamModel?: string | undefined;
  prices?: Partial<Prices> | undefined;
  contextWindow?: number | null | undefined;
  outputTokensMax?: number | null | undefined;
};

export type NewModel = ModelChanges & { slug: string; providerId: string };

type ModelServiceOptions = { database: Database; runtime: Runtime; changeFeed: ChangeFeed };

/** The models that keys can be connected to. */
export class ModelService {
  readonly #database: Database;
  readonly #runtime: Runtime;
  readonly #changeFeed: ChangeFeed;

  constructor({ database, runtime, changeFeed }: ModelServiceOptions) {
    this.#database = database;
    this.#runtime = runtime;
    this.#changeFeed = changeFeed;
  }

  /** By slug. */
  async list(): Promise<Model[]> {
    return (await this.#database.read(({ models }) => models.list())).map(toModel);
  }

  async get(reference: ModelReference): Promise<Model> {
    return this.#database.read(async (repositories) => toModel(await findModel(repositories, reference)));
  }

  /** The model's name at the upstream is the slug's second part unless it is given. */
  async create(model: NewModel): Promise<Model> {
    try {
      return toModel(await this.#change((repositories) => this.insert(repositories, model)));
    } catch (error) {
      if (!(error instanceof DuplicateError)) throw error;
      throw new GatewayError("conflict", `There is a model ${model.slug} already.`, { param: "slug" });
    }
  }

  /** `create` as part of a larger transaction, which has to append to the change feed itself. */
  async insert({ models, providers }: Repositories, model: NewModel): Promise<ModelRow> {
    const parts = parseSlug(model.slug);
    const provider = await providers.find(model.providerId);
    if (!provider)
      throw new GatewayError("invalid_value", "There is no provider with this id.", { param: "providerId" });
    if (parts?.providerName !== provider.name) {
      throw new GatewayError(
        "invalid_value",
        `The slug must be ${provider.name}/ and the model's name, without spaces.`,
        { param: "slug" },
      );
    }
    const row: ModelRow = {
      id: createId("mdl", this.#runtime),
      slug: model.slug,
      providerId: provider.id,
      upstreamModel: model.upstreamModel ?? parts.modelName,
      contextWindowTokens: model.contextWindow ?? null,
      outputTokensMax: model.outputTokensMax ?? null,
      ...toPriceColumns({ ...unknownPrices, ...model.prices }),
      createdAt: new Date(this.#runtime.now()),
    };
    await models.insert(row);
    return row;
  }

  /** What is not given stays as it is; a price that is given as null becomes unknown. */
  async update(reference: ModelReference, changes: ModelChanges): Promise<Model> {
    const updated = await this.#change(async (repositories) => {
      const row = await findModel(repositories, reference);
      await repositories.models.update(row.id, {
        ...(changes.upstreamModel !== undefined && { upstreamModel: changes.upstreamModel }),
        ...(changes.contextWindow !== undefined && { contextWindowTokens: changes.contextWindow }),
        ...(changes.outputTokensMax !== undefined && { outputTokensMax: changes.outputTokensMax }),
        ...(changes.prices !== undefined && toPriceColumns({ ...fromPriceColumns(row), ...changes.prices })),
      });
      return findModel(repositories, { id: row.id });
    });
    return toModel(updated);
  }

  /** For good; no key can use it any more. */
  async delete(reference: ModelReference): Promise<void> {
    await this.#change(async (repositories) => {
      const row = await findModel(repositories, reference);
      const keyIds = await repositories.models.connectedKeyIds(row.id);
      await repositories.models.delete(row.id);
      // Their streams with this model are cut, as if it had been taken from each of them.
      for (const keyId of keyIds)
        await repositories.changes.append("api_key", keyId, new Date(this.#runtime.now()));
      return row;
    });
  }

  async #change(work: (repositories: Repositories) => Promise<ModelRow>): Promise<ModelRow> {
    const row = await this.#database.write(async (repositories) => {
      const changed = await work(repositories);
      await repositories.changes.append("catalogue", changed.id, new Date(this.#runtime.now()));
      return changed;
    });
    await this.#changeFeed.catchUp();
    return row;
  }
}

const unknownPrices: Prices = { input: null, cachedInput: null, cacheWrite: null, output: null };

async function findModel({ models }: Repositories, reference: ModelReference): Promise<ModelRow> {
  const row = await models.find(reference);
  if (!row)
    throw new GatewayError("not_found", "There is no such model.", {
      param: Object.keys(reference)[0] ?? null,
    });
  return row;
}

function toModel(row: ModelRow): Model {
  return {
    id: row.id,
    slug: row.slug,
    providerId: row.providerId,
    upstreamModel: row.upstreamModel,
    prices: fromPriceColumns(row),
    contextWindow: row.contextWindowTokens,
    outputTokensMax: row.outputTokensMax,
    createdAt: row.createdAt,
  };
}
