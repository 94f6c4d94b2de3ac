import { bigInteger, id, index, integer, moment, nullable, type RowOf, table, text } from "./table.ts";

/** A budget warning, stored once even if several processes detect it. */
export const LimitEvent = table(
  "limit_events",
  {
    /** A hash of the holder, budget, period and percentage, so that every process computes the same ID. */
    id: id({ length: 64 }),
    /** `noKey` if the budget belongs to a user (`ownerId`) or to the gateway (no `ownerId`). */
    apiKeyId: text(40),
    apiKeyName: text(255),
    ownerId: nullable(text(40)),
    /** `day`, `week`, `month` or `total`. */
    period: text(8),
    periodStartsAt: moment(),
    percent: integer(),
    /** `budget` and `spent` are in nano-dollars. */
    budget: bigInteger(),
    spent: bigInteger(),
    createdAt: moment(),
    /** The number of attempts to call the webhook. */
    attempts: integer(),
    /** The time of the next attempt. Null after delivery or the last attempt, and without a webhook. */
    sendAt: nullable(moment()),
  },
  [index("limit_events_key", ["apiKeyId", "createdAt"]), index("limit_events_send", ["sendAt"])],
);

/** Replaces the key ID in warnings about shared budgets, because the column cannot be null. */
export const noKey = "";

export type LimitEventRow = RowOf<typeof LimitEvent>;
