import { type EntityManager, LessThan, MoreThan } from "typeorm";
import { LimitUse, type LimitUseRow } from "../entities/limit-use.ts";
import { readRaw } from "./raw-sql.ts";

export class LimitUseRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  async put(uses: readonly LimitUseRow[]): Promise<void> {
    for (let from = 0; from < uses.length; from += rowsPerStatement) {
      const part = uses.slice(from, from + rowsPerStatement);
      await this.#manager.upsert(LimitUse, part, ["processId", "subjectId", "second"]);
    }
  }

  /** The use of all other processes, summed by holder and second. */
  async ofOthers(processId: string, { from, before, subjectIds }: OthersQuery): Promise<OthersUse[]> {
    if (subjectIds?.length === 0) return [];
    const these = subjectIds ? `AND subject_id IN (${subjectIds.map(() => "?").join(", ")})` : "";
    const query = {
      sql: `SELECT subject_id, second, SUM(requests) AS requests, SUM(tokens) AS tokens FROM limit_uses
        WHERE second >= ? AND second < ? AND process_id <> ? ${these} GROUP BY subject_id, second`,
      parameters: [from, before ?? Number.MAX_SAFE_INTEGER, processId, ...(subjectIds ?? [])],
    };
    return readRaw(this.#manager, query, ({ subject_id: subjectId, second, requests, tokens }) => ({
      subjectId: String(subjectId),
      second: Number(second),
      requests: Number(requests),
      tokens: Number(tokens),
    }));
  }

  /** The number of other processes with any use since the second `from`. */
  async countOthers(processId: string, from: number): Promise<number> {
    const query = {
      sql: `SELECT COUNT(DISTINCT process_id) AS others FROM limit_uses WHERE second >= ? AND process_id <> ?`,
      parameters: [from, processId],
    };
    const [count = 0] = await readRaw(this.#manager, query, ({ others }) => Number(others ?? 0));
    return count;
  }

  /** Keeps the seconds from `from` to `to`. Later ones come from a clock that was wrong. */
  async deleteOutside(from: number, to: number): Promise<void> {
    await this.#manager.delete(LimitUse, { second: LessThan(from) });
    await this.#manager.delete(LimitUse, { second: MoreThan(to) });
  }
}

/** `from` and `before` are Unix times in seconds. `before` is exclusive. */
type OthersQuery = { from: number; before?: number; subjectIds?: string[] };

type OthersUse = Omit<LimitUseRow, "processId">;

const rowsPerStatement = 500;
