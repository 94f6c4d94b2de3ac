import { setTimeout as pause } from "node:timers/promises";
import type { DataSource, EntityManager } from "typeorm";
import { DatabaseUnavailableError, isBusy } from "./database-errors.ts";
import { sqliteOf } from "./repositories/raw-sql.ts";
import { inTransaction } from "./sqlite-transaction.ts";

/**
 * Runs one operation at a time, because SQLite has one connection and a concurrent operation would run inside the
 * open transaction. While another process locks the database, operations are repeated until their timeout.
 */
export class SqliteOperations {
  readonly #dataSource: DataSource;
  readonly #timeoutMs: number;
  #running: Promise<unknown> = Promise.resolve();
  #writing: Promise<unknown> = Promise.resolve();
  #writes = 0;

  constructor(dataSource: DataSource, timeoutMs: number) {
    this.#dataSource = dataSource;
    this.#timeoutMs = timeoutMs;
  }

  read<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.#untilFree(this.#deadline(), () => work(this.#dataSource.manager));
  }

  /** While a write waits for the lock of another process, later writes wait behind it, but reads do not. */
  async write<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    const deadline = this.#deadline();
    const start = () => this.#untilFree(deadline, () => inTransaction(this.#dataSource, work));
    const written = this.#writes++ === 0 ? start() : this.#writing.then(start);
    this.#writing = written.catch(() => {});
    try {
      return await written;
    } finally {
      this.#writes--;
    }
  }

  async migrate<Result>(work: (dataSource: DataSource) => Promise<Result>): Promise<Result> {
    return this.#untilFree(this.#deadline(), async () => {
      try {
        return await work(this.#dataSource);
      } catch (error) {
        // Migrations use TypeORM's transactions, and a failed one may have left one open.
        await this.#dataSource.destroy();
        throw error;
      }
    });
  }

  async ended(): Promise<void> {
    await this.#writing;
    await this.#running;
  }

  #deadline(): number {
    return performance.now() + this.#timeoutMs;
  }

  #untilFree<Result>(deadline: number, operation: () => Promise<Result>): Promise<Result> {
    const open = async () => {
      // Its caller has already received an error.
      if (performance.now() > deadline) throw new DatabaseUnavailableError("The database is too busy.");
      await this.#open();
      return operation();
    };
    return untilFree(deadline, () => this.#enqueue(open));
  }

  #enqueue<Result>(operation: () => Promise<Result>): Promise<Result> {
    const result = this.#running.then(operation);
    this.#running = result.catch(() => {});
    return result;
  }

  /** A failed transaction may have closed the connection. */
  async #open(): Promise<void> {
    const dataSource = this.#dataSource;
    if (dataSource.isInitialized && !sqliteOf(dataSource.manager)?.open) await dataSource.destroy();
    if (!dataSource.isInitialized) await dataSource.initialize();
  }
}

/** Repeats an operation while another process locks the database. Waits without blocking the event loop. */
export async function untilFree<Result>(
  deadline: number,
  operation: () => Promise<Result>,
  attempt = 1,
): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    if (!isBusy(error) || performance.now() >= deadline) throw error;
  }
  await pause((0.5 + Math.random()) * Math.min(5 * attempt, pauseMsMax));
  return untilFree(deadline, operation, attempt + 1);
}

const pauseMsMax = 50;
