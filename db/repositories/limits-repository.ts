import type { EntityManager } from "typeorm";
import { Limits, type LimitsRow } from "../entities/limits.ts";

export class LimitsRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** @param holder null for all holders */
  list(holder: string | null): Promise<LimitsRow[]> {
    return this.#manager.find(Limits, { where: holder === null ? {} : { holder } });
  }

  find(holder: string): Promise<LimitsRow | null> {
    return this.#manager.findOneBy(Limits, { holder });
  }

  /** Inserts or replaces the row of a holder. */
  async put(row: LimitsRow): Promise<void> {
    await this.#manager.upsert(Limits, row, ["holder"]);
  }
}
