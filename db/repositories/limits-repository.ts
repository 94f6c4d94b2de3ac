import { type EntityManager, In } from "typeorm";
import { AllowedModel, Limits, type LimitsRow } from "../entities/limits.ts";
import { Model } from "../entities/model.ts";

export class LimitsRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** @param holder null for all holders */
  async list(holder: string | null): Promise<(LimitsRow & { allowedModelIds: string[] })[]> {
    const where = holder === null ? {} : { holder };
    const rows = await this.#manager.find(Limits, { where });
    const allowed = Map.groupBy(await this.#manager.findBy(AllowedModel, where), (row) => row.holder);
    return rows.map((row) => ({
      ...row,
      allowedModelIds: (allowed.get(row.holder) ?? []).map(({ modelId }) => modelId),
    }));
  }

  find(holder: string): Promise<LimitsRow | null> {
    return this.#manager.findOneBy(Limits, { holder });
  }

  /** Inserts or replaces the row of a holder. */
  async put(row: LimitsRow): Promise<void> {
    await this.#manager.upsert(Limits, row, ["holder"]);
  }

  /** The sorted slugs of the models that a holder's keys may use, if it has a list. */
  async allowedSlugs(holder: string): Promise<string[]> {
    const allowed = await this.#manager.findBy(AllowedModel, { holder });
    const models = await this.#manager.find(Model, {
      select: { slug: true },
      where: { id: In(allowed.map(({ modelId }) => modelId)) },
      order: { slug: "ASC" },
    });
    return models.map(({ slug }) => slug);
  }

  async setAllowed(holder: string, modelIds: readonly string[]): Promise<void> {
    await this.#manager.delete(AllowedModel, { holder });
    if (modelIds.length === 0) return;
    await this.#manager.insert(
      AllowedModel,
      modelIds.map((modelId) => ({ holder, modelId })),
    );
  }
}
