import { bigInteger, id, index, integer, moment, nullable, type RowOf, table, text } from "./table.ts";

/** A warning that a part of a budget is spent: it is given once, whichever process notices. */
export const LimitEvent = table(
  "limit_events",
  {
    /** A hash of what it says, so that nobody says it twice. */
    id: id({ length: 64 }),
    /** The key whose own budget it is, or `noKey`: then it is that of all keys of the owner, or without one of all keys. */
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
    /** How many times it was sent to the webhook. */
    attempts: integer(),
    /** When it is to be sent; null when it has been, or is not to be. */
    sendAt: nullable(moment()),
  },
  [index("limit_events_key", ["apiKeyId", "createdAt"]), index("limit_events_send", ["sendAt"])],
);

/** In the place of a key's id, in warnings about budgets that keys share: the column cannot be null. */
export const noKey = "";

export type LimitEventRow = RowOf<typeof LimitEvent>;
