import { And, type EntityManager, In, MoreThan } from "typeorm";
import { ApiKeyModel } from "../entities/api-key.ts";
import { Model, ModelFallback, type ModelFallbackRow, type ModelRow } from "../entities/model.ts";
import { containing } from "./containing.ts";

export type ModelReference = { id: string } | { slug: string };

export type ModelPage = {
  search?: string | undefined;
  providerId?: string | undefined;
  afterSlug?: string | undefined;
  limit?: number | undefined;
};

export class ModelRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** Sorted by slug. `search` matches a part of the slug or of the upstream model. */
  list({ search, providerId, afterSlug, limit }: ModelPage = {}): Promise<ModelRow[]> {
    const after = afterSlug === undefined ? {} : { slug: MoreThan(afterSlug) };
    const where = { ...after, ...(providerId && { providerId }) };
    const found = search && containing(search);
    return this.#manager.find(Model, {
      where: found
        ? [
            { ...where, slug: afterSlug === undefined ? found : And(MoreThan(afterSlug), found) },
            { ...where, upstreamModel: found },
          ]
        : where,
      order: { slug: "ASC" },
      ...(limit !== undefined && { take: limit }),
    });
  }

  find(reference: ModelReference): Promise<ModelRow | null> {
    return this.#manager.findOneBy(Model, reference);
  }

  findBySlugs(slugs: string[]): Promise<ModelRow[]> {
    return this.#manager.findBy(Model, { slug: In(slugs) });
  }

  async insert(model: ModelRow): Promise<void> {
    await this.#manager.insert(Model, model);
  }

  /** Increases the revision, which locks the row. Returns false if the row is missing or `revision` is outdated. */
  async nextRevision(id: string, revision: number | undefined): Promise<boolean> {
    const where = revision === undefined ? { id } : { id, revision };
    const { affected } = await this.#manager.update(Model, where, { revision: () => "revision + 1" });
    return affected !== 0;
  }

  async update(id: string, changes: Partial<Omit<ModelRow, "id" | "createdAt">>): Promise<void> {
    if (Object.keys(changes).length > 0) await this.#manager.update(Model, { id }, changes);
  }

  async delete(id: string): Promise<void> {
    await this.#manager.delete(Model, { id });
  }

  async connectedKeyIds(id: string): Promise<string[]> {
    const connections = await this.#manager.findBy(ApiKeyModel, { modelId: id });
    return connections.map((connection) => connection.apiKeyId);
  }

  /** Sorted by model and position. */
  listFallbacks(): Promise<ModelFallbackRow[]> {
    return this.#manager.find(ModelFallback, { order: { modelId: "ASC", position: "ASC" } });
  }

  /** The write throws a `StillReferencedError` if a fallback does not exist. */
  async setFallbacks(id: string, fallbackModelIds: string[]): Promise<void> {
    await this.#manager.delete(ModelFallback, { modelId: id });
    if (fallbackModelIds.length === 0) return;
    await this.#manager.insert(
      ModelFallback,
      fallbackModelIds.map((fallbackModelId, position) => ({ modelId: id, position, fallbackModelId })),
    );
  }
}
