import type { EntityManager } from "typeorm";
import { DataKey, type DataKeyRow } from "../entities/data-key.ts";

export class DataKeyRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** Lists the newest keys first. */
  list(): Promise<DataKeyRow[]> {
    return this.#manager.find(DataKey, { order: { number: "DESC" } });
  }

  async insert(dataKey: DataKeyRow): Promise<void> {
    await this.#manager.insert(DataKey, dataKey);
  }
}
