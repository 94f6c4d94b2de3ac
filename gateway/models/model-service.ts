import type { Database, Repositories } from "../../db/database.ts";
import { DuplicateError } from "../../db/database-errors.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { ProviderRow } from "../../db/entities/provider.ts";
import type { ModelReference } from "../../db/repositories/model-repository.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { Runtime } from "../runtime.ts";
import { findKnownModel, type KnownModel, listKnownModels } from "./known-models/known-models.ts";
import { type Model, toModel } from "./model-details.ts";
import { readFallbacks, saveFallbacks } from "./model-fallbacks.ts";
import { fromPriceColumns, type Prices, toPriceColumns } from "./prices.ts";
import { sellerOf } from "./seller-of.ts";
import { parseSlug } from "./slug.ts";

export type ModelChanges = {
  upstreamModel?: string | undefined;
  prices?: Partial<Prices> | undefined;
  contextWindow?: number | null | undefined;
  outputTokensMax?: number | null | undefined;
  /** Slugs, in their order; in place of those that the model has. */
  fallbacks?: string[] | undefined;
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
    return this.#database.read(async (repositories) =>
      describe(repositories, await repositories.models.list()),
    );
  }

  async get(reference: ModelReference): Promise<Model> {
    return this.#database.read(async (repositories) => {
      const row = await findModel(repositories, reference);
      return toModel(row, (await readFallbacks(repositories))(row));
    });
  }

  /** What is known of a provider's models without asking its upstream, by name; empty where nothing is. */
  async listKnown(providerId: string): Promise<KnownModel[]> {
    return listKnownModels(sellerOf(await this.#findProvider(providerId), this.#runtime.now()));
  }

  /**
   * The model's name at the upstream is the slug's second part unless it is given. What else is not given is what is known
   * of the model.
   */
  async create(model: NewModel): Promise<Model> {
    const seller = sellerOf(await this.#findProvider(model.providerId), this.#runtime.now());
    const upstreamModel = model.upstreamModel ?? parseSlug(model.slug)?.modelName ?? "";
    const known = await findKnownModel(seller, upstreamModel);
    try {
      return await this.#change(async (repositories) => {
        const row = await this.insert(repositories, model, known);
        if (model.fallbacks) await saveFallbacks(repositories, row, model.fallbacks);
        return row;
      });
    } catch (error) {
      throw error instanceof DuplicateError ? slugTaken(model.slug, "slug") : error;
    }
  }

  /**
   * Makes models of a provider's, each under its upstream's name, with what is known of it. Those that are here already
   * stay as they are. Gives all of them, in the order of their names.
   */
  async addAll(providerId: string, upstreamModels: string[]): Promise<Model[]> {
    const provider = await this.#findProvider(providerId, "id");
    const seller = sellerOf(provider, this.#runtime.now());
    const known = new Map<string, KnownModel | null>();
    for (const name of upstreamModels) known.set(name, await findKnownModel(seller, name));
    return this.#changeAll(async (repositories) => {
      const rows = await repositories.models.list();
      const own = rows.filter((row) => row.providerId === providerId);
      const taken = new Set(rows.map(({ slug }) => slug));
      const added: ModelRow[] = [];
      for (const [index, upstreamModel] of upstreamModels.entries()) {
        const existing = own.find((row) => row.upstreamModel === upstreamModel);
        const slug = `${provider.name}/${upstreamModel}`;
        if (!existing) checkNewSlug(slug, taken, `models.${index}`);
        const model = { slug, providerId, upstreamModel };
        added.push(existing ?? (await this.insert(repositories, model, known.get(upstreamModel) ?? null)));
      }
      return added;
    });
  }

  /** `create` as part of a larger transaction, which has to append to the change feed itself. Fallbacks are not saved. */
  async insert(
    { models, providers }: Repositories,
    model: NewModel,
    known: KnownModel | null = null,
  ): Promise<ModelRow> {
    const parts = parseSlug(model.slug);
    const provider = await providers.find(model.providerId);
    if (!provider) throw noProvider("providerId");
    if (parts?.providerName !== provider.name) {
      const message = `The slug must be ${provider.name}/ and the model's name, without spaces.`;
      throw new GatewayError("invalid_value", message, { param: "slug" });
    }
    // Null is said; only what is not said is filled in.
    const { contextWindow = known?.contextWindow ?? null, outputTokensMax = known?.outputTokensMax ?? null } =
      model;
    const row: ModelRow = {
      id: createId("mdl", this.#runtime),
      slug: model.slug,
      providerId: provider.id,
      upstreamModel: model.upstreamModel ?? parts.modelName,
      contextWindowTokens: contextWindow,
      outputTokensMax,
      ...toPriceColumns(withGiven(known?.prices ?? unknownPrices, model.prices)),
      createdAt: new Date(this.#runtime.now()),
    };
    await models.insert(row);
    return row;
  }

  /** What is not given stays as it is; a price that is given as null becomes unknown. */
  async update(reference: ModelReference, changes: ModelChanges): Promise<Model> {
    const { upstreamModel, contextWindow, outputTokensMax, prices, fallbacks } = changes;
    return this.#change(async (repositories) => {
      const row = await findModel(repositories, reference);
      await repositories.models.update(row.id, {
        ...(upstreamModel !== undefined && { upstreamModel }),
        ...(contextWindow !== undefined && { contextWindowTokens: contextWindow }),
        ...(outputTokensMax !== undefined && { outputTokensMax }),
        ...(prices !== undefined && toPriceColumns(withGiven(fromPriceColumns(row), prices))),
      });
      if (fallbacks) await saveFallbacks(repositories, row, fallbacks);
      return findModel(repositories, { id: row.id });
    });
  }

  /** For good; no key can use it any more, and no model falls back to it. */
  async delete(reference: ModelReference): Promise<void> {
    await this.#change(async (repositories) => {
      const row = await findModel(repositories, reference);
      const keyIds = await repositories.models.connectedKeyIds(row.id);
      await repositories.models.delete(row.id);
      // Their streams with this model are cut, as if it had been taken from each of them.
      for (const keyId of keyIds) await repositories.changes.append("api_key", keyId, this.#now());
      return row;
    });
  }

  async #findProvider(id: string, param = "providerId"): Promise<ProviderRow> {
    const provider = await this.#database.read(({ providers }) => providers.find(id));
    if (!provider) throw noProvider(param);
    return provider;
  }

  async #change(work: (repositories: Repositories) => Promise<ModelRow>): Promise<Model> {
    const [model] = await this.#changeAll(async (repositories) => [await work(repositories)]);
    if (model === undefined) throw new Error("One row was given, and must come back.");
    return model;
  }

  /** @param work gives the models that it changed, as they are now. */
  async #changeAll(work: (repositories: Repositories) => Promise<ModelRow[]>): Promise<Model[]> {
    const changed = await this.#database.write(async (repositories) => {
      const rows = await work(repositories);
      const [first] = rows;
      // One is enough: whoever hears of it reads the whole catalogue.
      if (first) await repositories.changes.append("catalogue", first.id, this.#now());
      return describe(repositories, rows);
    });
    await this.#changeFeed.catchUp();
    return changed;
  }

  #now(): Date {
    return new Date(this.#runtime.now());
  }
}

async function describe(repositories: Repositories, rows: ModelRow[]): Promise<Model[]> {
  const fallbacksOf = await readFallbacks(repositories);
  return rows.map((row) => toModel(row, fallbacksOf(row)));
}

async function findModel({ models }: Repositories, reference: ModelReference): Promise<ModelRow> {
  const row = await models.find(reference);
  if (row) return row;
  const param = Object.keys(reference)[0] ?? null;
  throw new GatewayError("not_found", "There is no such model.", { param });
}

const unknownPrices: Prices = { input: null, cachedInput: null, cacheWrite: null, output: null };

/** Null is given, undefined is not. */
function withGiven(prices: Prices, given: Partial<Prices> = {}): Prices {
  const said = Object.entries(given).filter(([, price]) => price !== undefined);
  return { ...prices, ...Object.fromEntries(said) };
}

function noProvider(param: string): GatewayError {
  const code = param === "id" ? "not_found" : "invalid_value";
  return new GatewayError(code, "There is no provider with this id.", { param });
}

function checkNewSlug(slug: string, taken: ReadonlySet<string>, param: string): void {
  if (taken.has(slug)) throw slugTaken(slug, param);
  if (parseSlug(slug)) return;
  const message = `${slug} cannot be a slug. Add this model with models.create, under a slug of your own.`;
  throw new GatewayError("invalid_value", message, { param });
}

function slugTaken(slug: string, param: string): GatewayError {
  return new GatewayError("conflict", `There is a model ${slug} already.`, { param });
}
