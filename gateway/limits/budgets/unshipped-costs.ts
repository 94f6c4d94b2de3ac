import type { UsageRecord } from "../../usage/recording/record-format.ts";
import { dayMs } from "./budget-time.ts";

/**
 * What requests that are over have cost but is not in the database yet, by whose it is and day: what was read there plus this
 * is what was spent. It is no larger than the spool.
 */
export class UnshippedCosts {
  readonly #costs = new Map<string, Map<number, number>>();

  add(id: string, { createdAt, cost }: UsageRecord): void {
    if (cost === null || cost === 0) return;
    let days = this.#costs.get(id);
    if (!days) this.#costs.set(id, (days = new Map()));
    const day = startOfDay(createdAt);
    days.set(day, (days.get(day) ?? 0) + cost);
  }

  /** The record is in the database. */
  shipped(id: string, { createdAt, cost }: UsageRecord): void {
    const days = this.#costs.get(id);
    if (!days || cost === null) return;
    const day = startOfDay(createdAt);
    const left = (days.get(day) ?? 0) - cost;
    if (left > 0) days.set(day, left);
    else days.delete(day);
    if (days.size === 0) this.#costs.delete(id);
  }

  /** The cost of each day, by the day's first moment. */
  of(id: string): Iterable<[startsAt: number, cost: number]> {
    return this.#costs.get(id) ?? [];
  }
}

function startOfDay(moment: Date): number {
  return Math.floor(moment.getTime() / dayMs) * dayMs;
}
