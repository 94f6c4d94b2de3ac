import { type EntityManager, In } from "typeorm";
import { ApiKeyWithheldModel } from "../entities/api-key.ts";

export class WithheldModelRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** The sorted slugs of each key. Omits keys without withheld models. */
  async listByKey(apiKeyIds: string[]): Promise<Map<string, string[]>> {
    const rows = await this.#manager.find(ApiKeyWithheldModel, {
      where: { apiKeyId: In(apiKeyIds) },
      order: { modelSlug: "ASC" },
    });
    const byKey = Map.groupBy(rows, ({ apiKeyId }) => apiKeyId);
    return new Map([...byKey].map(([apiKeyId, some]) => [apiKeyId, some.map(({ modelSlug }) => modelSlug)]));
  }

  async add(apiKeyId: string, slugs: string[]): Promise<void> {
    if (slugs.length === 0) return;
    await this.#manager.insert(
      ApiKeyWithheldModel,
      slugs.map((modelSlug) => ({ apiKeyId, modelSlug })),
    );
  }

  async remove(apiKeyId: string, slugs: string[]): Promise<void> {
    if (slugs.length > 0) await this.#manager.delete(ApiKeyWithheldModel, { apiKeyId, modelSlug: In(slugs) });
  }
}
