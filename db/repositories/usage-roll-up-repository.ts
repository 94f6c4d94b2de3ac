import { setImmediate as nextTurn } from "node:timers/promises";
import { type EntityManager, In, MoreThan, Not } from "typeorm";
import type { UsageRecordRow } from "../entities/usage-record.ts";
import { allKeys, sumNames, UsageRollUp, type UsageRollUpRow } from "../entities/usage-roll-up.ts";
import type { OwnerScope } from "./api-key-filter.ts";
import { dailyCostsQuery, type DailyCostsOf } from "./daily-costs-query.ts";
import { compile, readRaw, sqliteOf, toMoment, toRaw } from "./raw-sql.ts";
import { rollUp } from "./roll-up.ts";
import { countQuery, daysQuery, sumQuery, type UsageDaysQuery, type UsageSumQuery } from "./usage-queries.ts";
import type { UsageFilter } from "./usage-filter.ts";
import { toUsageSum, type UsageSum } from "./usage-sum.ts";

export class UsageRollUpRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** Sums roll-ups or records, depending on `query.of`. Throws a `QueryTooLongError`. */
  async sum(query: UsageSumQuery, timeoutMs: number): Promise<UsageSum[]> {
    const dialect = { kind: this.#manager.connection.options.type, timeoutMs };
    return readRaw(this.#manager, sumQuery(dialect, query), toUsageSum);
  }

  /**
   * The days that may have matches, newest first, each with its number of certain matches. Throws a
   * `QueryTooLongError`.
   */
  async days(query: UsageDaysQuery, timeoutMs: number): Promise<UsageDay[]> {
    const dialect = { kind: this.#manager.connection.options.type, timeoutMs };
    return readRaw(this.#manager, daysQuery(dialect, query), ({ starts_at: startsAt, requests }) => ({
      startsAt: toMoment(startsAt),
      requests: Number(requests),
    }));
  }

  /**
   * An upper bound for the number of matches on days from `from` (inclusive) to `to` (exclusive). Throws a
   * `QueryTooLongError`.
   */
  async count(
    filter: UsageFilter,
    { from, to }: { from: Date; to: Date },
    timeoutMs: number,
  ): Promise<number> {
    const dialect = { kind: this.#manager.connection.options.type, timeoutMs };
    const query = countQuery(dialect, filter, from, to);
    const [count = 0] = await readRaw(this.#manager, query, ({ requests }) => Number(requests ?? 0));
    return count;
  }

  /** The daily cost of each key or owner in nano-dollars, as budgets count it. May omit days without a cost. */
  async dailyCosts(of: DailyCostsOf): Promise<DailyCost[]> {
    if (of.ids.length === 0) return [];
    const { ids } = of;
    const costs: DailyCost[] = [];
    // SQLite's driver is synchronous, and budgets cannot wait for people's questions in the other thread.
    const idsPerQuery = sqliteOf(this.#manager) ? idsPerTurn : ids.length;
    for (let from = 0; from < ids.length; from += idsPerQuery) {
      if (from > 0) await nextTurn();
      const part = { ...of, ids: ids.slice(from, from + idsPerQuery) };
      const query = dailyCostsQuery({ kind: this.#manager.connection.options.type }, part);
      const found = await readRaw(this.#manager, query, ({ id, starts_at: startsAt, cost }) => ({
        id: String(id),
        startsAt: toMoment(startsAt),
        cost: Number(cost),
      }));
      costs.push(...found);
    }
    return costs;
  }

  /** Whether a user's key ever made a request. Ignores keys without an owner, such as the key of the first start. */
  existsOf(owner: OwnerScope): Promise<boolean> {
    const ownerId = owner === "everyone" ? MoreThan("") : owner.ownerId;
    return this.#manager.existsBy(UsageRollUp, { ownerId });
  }

  /** Whether a request ever called a provider outside `providers`. */
  existsBesides(providers: readonly string[]): Promise<boolean> {
    const provider = Not(In(["", ...providers]));
    return this.#manager.existsBy(UsageRollUp, { apiKeyId: allKeys, resolution: "day", provider });
  }

  /** Must run in the transaction that inserted the records, so that each record counts once. */
  async add(records: readonly UsageRecordRow[]): Promise<void> {
    await this.#add(rollUp(records));
  }

  /** Replaces the sums of `before` with the sums of `after`: the same records with new costs. */
  async replace(before: readonly UsageRecordRow[], after: readonly UsageRecordRow[]): Promise<void> {
    const sums = rollUp(after);
    for (const [index, old] of rollUp(before).entries()) {
      const sum = sums[index];
      if (sum) for (const name of sumNames) sum[name] -= old[name];
    }
    await this.#add(sums);
  }

  async #add(sums: UsageRollUpRow[]): Promise<void> {
    const { columns } = this.#manager.connection.getMetadata(UsageRollUp);
    const sqlite = sqliteOf(this.#manager);
    const names = columns.map((column) => column.databaseName);
    const given = (name: string) => (sqlite ? `excluded.${name}` : `VALUES(${name})`);
    const changes = columns
      .filter(({ propertyName }) => sumNames.some((name) => name === propertyName))
      .map(({ databaseName: name }) => `${name} = usage_roll_ups.${name} + ${given(name)}`);
    const insert = `INSERT INTO usage_roll_ups (${names.join(", ")}) VALUES`;
    const row = `(${names.map(() => "?").join(", ")})`;
    const conflict = sqlite ? "ON CONFLICT DO UPDATE SET" : "ON DUPLICATE KEY UPDATE";
    const name = `CASE WHEN ${given("requests")} > 0 THEN ${given("api_key_name")} ELSE usage_roll_ups.api_key_name END`;
    const update = `${conflict} api_key_name = ${name}, ${changes.join(", ")}`;
    const parameters = (sum: UsageRollUpRow) =>
      columns.map(({ propertyName }) => toRaw(sum[propertyName as keyof UsageRollUpRow]));

    if (sqlite) {
      const statement = compile(sqlite, `${insert} ${row} ${update}`);
      for (const [index, sum] of sums.entries()) {
        // The driver is synchronous, so the loop regularly lets requests run.
        if (index % sumsPerTurn === sumsPerTurn - 1) await nextTurn();
        statement.run(parameters(sum));
      }
      return;
    }
    for (let from = 0; from < sums.length; from += rowsPerStatement) {
      const part = sums.slice(from, from + rowsPerStatement);
      await this.#manager.query(
        `${insert} ${part.map(() => row).join(", ")} ${update}`,
        part.flatMap(parameters),
      );
    }
  }
}

const rowsPerStatement = 500;
/** Rows per turn of the event loop on SQLite: about 2 ms of work. */
const sumsPerTurn = 100;
/** At a million records, the daily costs of this many holders take a few milliseconds. */
const idsPerTurn = 10;

/** `id` is the ID of a key or an owner. */
export type DailyCost = { id: string; startsAt: Date; cost: number };

export type UsageDay = { startsAt: Date; requests: number };
