import { bigInteger, id, index, moment, type RowOf, table, text } from "./table.ts";

/** One entry of the change feed: what other processes must no longer believe. Kept for an hour. */
export const Change = table(
  "changes",
  {
    /** Taken from the counter `changes`, whose row lock makes numbers become visible in their order. */
    number: bigInteger({ primary: true }),
    kind: text<ChangeKind>(16),
    entityId: text(40),
    createdAt: moment(),
  },
  [index("changes_time", ["createdAt"])],
);

/** Named numbers that only grow. */
export const Counter = table("counters", { name: id({ length: 32 }), value: bigInteger() });

/**
 * `api_key`: one key, by its id. `catalogue`: providers, credentials or models, reloaded as a whole. `data_key`: there is
 * a new one.
 */
export type ChangeKind = "api_key" | "catalogue" | "data_key";
export type ChangeRow = RowOf<typeof Change>;
