import { bigInteger, id, index, integer, moment, nullable, type RowOf, table, text } from "./table.ts";

/** A budget warning. It is stored once, although several processes may notice it. */
export const LimitEvent = table(
  "limit_events",
  {
    /** A hash of the content, so that the warning is unique. */
    id: id({ length: 64 }),
    /**
     * The key with the budget. `noKey` if the budget belongs to the owner or, without an owner, to the
     * gateway.
     */
    apiKeyId: text(40),
    apiKeyName: text(255),
    ownerId: nullable(text(40)),
    /** `day`, `week`, `month` or `total`. */
    period: text(8),
    periodStartsAt: moment(),
    percent: integer(),
    /** Nano-dollars. */
    budget: bigInteger(),
    spent: bigInteger(),
    createdAt: moment(),
    /** The number of webhook attempts. */
    attempts: integer(),
    /** The time of the next attempt. Null if nothing remains to be sent. */
    sendAt: nullable(moment()),
  },
  [index("limit_events_key", ["apiKeyId", "createdAt"]), index("limit_events_send", ["sendAt"])],
);

/** Replaces the key ID in warnings about shared budgets, because the column cannot be null. */
export const noKey = "";

export type LimitEventRow = RowOf<typeof LimitEvent>;
