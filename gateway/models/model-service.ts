import type { Database, Repositories } from "../../db/database.ts";
import { DuplicateError } from "../../db/database-errors.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { ProviderRow } from "../../db/entities/provider.ts";
import type { ModelPage, ModelReference } from "../../db/repositories/model-repository.ts";
import { type AuditLog, differences, listSome } from "../audit/audit-log.ts";
import { type Author, ownerScope, type Person } from "../auth/person.ts";
import { changedMeanwhile, GatewayError } from "../errors.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { Runtime } from "../runtime.ts";
import type { Catalogue } from "../routing/catalogue.ts";
import { deleteModel, findModel, insertModel, noProvider } from "./model-rows.ts";
import type { ModelChanges, ModelQuery, NewModel } from "./model-inputs.ts";
import { type Impact, readImpact } from "./impact.ts";
import { findKnownModel, type KnownModel, listKnownModels } from "../known-models/known-models.ts";
import { type Model, toModelDetails, toModels, saveFallbacks } from "./model-details.ts";
import { fromPriceColumns, toPriceColumns, withGiven } from "../known-models/prices.ts";
import { sellerOf } from "./discovered-models.ts";
import { readSetupModels } from "./setup-models.ts";
import type { SetupModel } from "../setup/setup-input.ts";
import { parseSlug } from "../routing/slug.ts";

type ModelServiceOptions = {
  database: Database;
  runtime: Runtime;
  changeFeed: ChangeFeed;
  audit: AuditLog;
  catalogue: Catalogue;
};

export class ModelService {
  readonly #options: ModelServiceOptions;

  constructor(options: ModelServiceOptions) {
    this.#options = options;
  }

  /** Sorts the models by slug. Returns all matches without a `limit`. */
  list(person: Person, { cursor, ...query }: ModelQuery = {}): Promise<Model[]> {
    const page: ModelPage = { ...query, afterSlug: cursor };
    return this.#options.database.read(async (repositories) =>
      toModels(repositories, await repositories.models.list(page), ownerScope(person)),
    );
  }

  get(person: Person, reference: ModelReference): Promise<Model> {
    return this.#options.database.read(async (repositories) =>
      toModelDetails(repositories, await findModel(repositories, reference), ownerScope(person)),
    );
  }

  listForSetup(slugs: string[]): Promise<SetupModel[]> {
    return readSetupModels(slugs, { database: this.#options.database, catalogue: this.#options.catalogue });
  }

  impact(reference: ModelReference): Promise<Impact> {
    return this.#options.database.read(async (repositories) =>
      readImpact(repositories, [await findModel(repositories, reference)]),
    );
  }

  /** Lists the known models, sorted by name, without an upstream request. Empty for an unknown upstream. */
  async listKnown(providerId: string): Promise<KnownModel[]> {
    return listKnownModels(sellerOf(await this.#findProvider(providerId), this.#options.runtime.now()));
  }

  /** The upstream name defaults to the second part of the slug. Known facts fill missing prices and token limits. */
  async create(author: Author, model: NewModel): Promise<Model> {
    const seller = sellerOf(await this.#findProvider(model.providerId), this.#options.runtime.now());
    const upstreamModel = model.upstreamModel ?? parseSlug(model.slug)?.modelName ?? "";
    const known = await findKnownModel(seller, upstreamModel);
    try {
      return await this.#change(async (repositories) => {
        const row = await this.insert(repositories, model, known);
        if (model.fallbacks) await saveFallbacks(repositories, row, model.fallbacks);
        const details = { upstreamModel: row.upstreamModel };
        await this.#options.audit.record(repositories, author, "model.create", entityOf(row), details);
        return row;
      });
    } catch (error) {
      throw error instanceof DuplicateError ? slugTaken(model.slug, "slug") : error;
    }
  }

  /**
   * Creates models of a provider, each under its upstream name, with known facts. Existing models stay
   * unchanged. Returns the models in the given order.
   */
  async addAll(author: Author, providerId: string, upstreamModels: string[]): Promise<Model[]> {
    const provider = await this.#findProvider(providerId, "id");
    const seller = sellerOf(provider, this.#options.runtime.now());
    const known = new Map<string, KnownModel | null>();
    for (const name of upstreamModels) known.set(name, await findKnownModel(seller, name));
    const { audit } = this.#options;
    const add = () =>
      this.#changeAll(async (repositories) => {
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
        const created = added.map(({ slug }) => slug).filter((slug) => !taken.has(slug));
        const details = { models: listSome(created) };
        await audit.record(repositories, author, "provider.addModels", provider, details);
        return added;
      });
    try {
      return await add();
    } catch (error) {
      // A concurrent call has just added some of the models, so a second attempt finds them.
      if (error instanceof DuplicateError) return add();
      throw error;
    }
  }

  /** The caller's transaction must append a catalogue change. Does not save fallbacks. */
  insert(repositories: Repositories, model: NewModel, known: KnownModel | null = null): Promise<ModelRow> {
    return insertModel(repositories, this.#options.runtime, model, known);
  }

  /** Keeps the values that `changes` omits. A null price means that the price is unknown. */
  update(author: Author, reference: ModelReference, changes: ModelChanges): Promise<Model> {
    const { upstreamModel, contextWindow, outputTokensMax, prices, fallbacks, revision } = changes;
    return this.#change(async (repositories) => {
      const { id } = await findModel(repositories, reference);
      const isCurrent = await repositories.models.nextRevision(id, revision);
      const row = await findModel(repositories, { id });
      if (!isCurrent) throw changedMeanwhile("model", row.revision);
      const before = await toModelDetails(repositories, row, "everyone");
      await repositories.models.update(row.id, {
        ...(upstreamModel !== undefined && { upstreamModel }),
        ...(contextWindow !== undefined && { contextWindowTokens: contextWindow }),
        ...(outputTokensMax !== undefined && { outputTokensMax }),
        ...(prices !== undefined && toPriceColumns(withGiven(fromPriceColumns(row), prices))),
      });
      if (fallbacks) await saveFallbacks(repositories, row, fallbacks);
      const changed = await findModel(repositories, { id });
      const after = await toModelDetails(repositories, changed, "everyone");
      const details = differences(before, after, editedFields);
      await this.#options.audit.record(repositories, author, "model.update", entityOf(row), details);
      return changed;
    });
  }

  /** Deletes a model permanently, and removes it from all keys and fallbacks. */
  async delete(author: Author, reference: ModelReference): Promise<void> {
    await this.#change(async (repositories) => {
      const row = await findModel(repositories, reference);
      const keyCount = await deleteModel(repositories, row, new Date(this.#options.runtime.now()));
      await this.#options.audit.record(repositories, author, "model.delete", entityOf(row), { keyCount });
      return row;
    });
  }

  async #findProvider(id: string, param = "providerId"): Promise<ProviderRow> {
    const provider = await this.#options.database.read(({ providers }) => providers.find(id));
    if (!provider) throw noProvider(param);
    return provider;
  }

  async #change(work: (repositories: Repositories) => Promise<ModelRow>): Promise<Model> {
    const [model] = await this.#changeAll(async (repositories) => [await work(repositories)]);
    if (model === undefined) throw new Error("The details of the model are missing.");
    return model;
  }

  #changeAll(work: (repositories: Repositories) => Promise<ModelRow[]>): Promise<Model[]> {
    return this.#options.changeFeed.edit("catalogue", async (repositories) => {
      const rows = await work(repositories);
      // One ID is enough, because each process reloads the whole catalogue.
      return [rows[0]?.id, await toModels(repositories, rows, "everyone")];
    });
  }
}

const editedFields = ["upstreamModel", "prices", "contextWindow", "outputTokensMax", "fallbacks"] as const;

/** The slug serves as the name. */
function entityOf({ id, slug }: ModelRow): { id: string; name: string } {
  return { id, name: slug };
}

function checkNewSlug(slug: string, taken: ReadonlySet<string>, param: string): void {
  if (taken.has(slug)) throw slugTaken(slug, param);
  if (parseSlug(slug)) return;
  const message = `The slug ${slug} is invalid. Add this model manually with another slug.`;
  throw new GatewayError("invalid_value", message, { param });
}

function slugTaken(slug: string, param: string): GatewayError {
  return new GatewayError("conflict", `The model ${slug} already exists. Choose another slug.`, { param });
}
