import { type EntityManager, LessThan, LessThanOrEqual } from "typeorm";
import { LimitEvent, type LimitEventRow } from "../entities/limit-event.ts";

export class LimitEventRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** Does nothing if the event exists. */
  async insert(event: LimitEventRow): Promise<void> {
    await this.#manager.createQueryBuilder().insert().into(LimitEvent).values(event).orIgnore().execute();
  }

  /** A key's events, newest first. */
  list(apiKeyId: string, limit: number): Promise<LimitEventRow[]> {
    return this.#manager.find(LimitEvent, { where: { apiKeyId }, order: { createdAt: "DESC" }, take: limit });
  }

  /** Sorted by `sendAt`, the earliest event first. */
  due(now: Date, limit: number): Promise<LimitEventRow[]> {
    const where = { sendAt: LessThanOrEqual(now) };
    return this.#manager.find(LimitEvent, { where, order: { sendAt: "ASC" }, take: limit });
  }

  /** Claims an attempt, so that no other process makes it. Returns false if another process was first. */
  async claim({ id, attempts }: LimitEventRow, sendAgainAt: Date | null): Promise<boolean> {
    const changes = { attempts: attempts + 1, sendAt: sendAgainAt };
    const { affected } = await this.#manager.update(LimitEvent, { id, attempts }, changes);
    return affected === 1;
  }

  /** Marks an event as delivered. */
  async settle(id: string): Promise<void> {
    await this.#manager.update(LimitEvent, { id }, { sendAt: null });
  }

  async deleteBefore(moment: Date): Promise<void> {
    await this.#manager.delete(LimitEvent, { createdAt: LessThan(moment) });
  }
}
