import { type EntityManager, LessThan, MoreThan } from "typeorm";
import { Change, type ChangeKind, type ChangeRow, Counter } from "../entities/change.ts";

export class ChangeRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  async latestNumber(): Promise<number> {
    // Plain SQL, because every process polls several times a second, and TypeORM needs longer to build the query
    // than the database to run it.
    const sql = "SELECT value FROM counters WHERE name = ?";
    const [counter] = await this.#manager.query<{ value: unknown }[]>(sql, [counterName]);
    if (counter === undefined) throw new Error("The counter of changes is missing from the database.");
    return Number(counter.value);
  }

  /** The changes after `number`, oldest first. */
  after(number: number, limit: number): Promise<ChangeRow[]> {
    return this.#manager.find(Change, {
      where: { number: MoreThan(number) },
      order: { number: "ASC" },
      take: limit,
    });
  }

  /**
   * Call it in the transaction of the change. The counter's row stays locked until the commit, so numbers become
   * visible in order.
   */
  async append(kind: ChangeKind, entityId: string, createdAt: Date): Promise<void> {
    await this.#manager.increment(Counter, { name: counterName }, "value", 1);
    const number = await this.latestNumber();
    await this.#manager.insert(Change, { number, kind, entityId, createdAt });
  }

  /** Blocks other transactions that append or lock, until this transaction ends. */
  async lock(): Promise<void> {
    await this.#manager.increment(Counter, { name: counterName }, "value", 0);
  }

  async deleteBefore(time: Date): Promise<void> {
    await this.#manager.delete(Change, { createdAt: LessThan(time) });
  }
}

const counterName = "changes";
