import { bigInteger, id, index, moment, type RowOf, table, text } from "./table.ts";

/** An entry of the change feed, from which every process updates its caches. Kept for at least an hour. */
export const Change = table(
  "changes",
  {
    /** The value of the counter `changes`, incremented for each entry. */
    number: bigInteger({ primary: true }),
    kind: text<ChangeKind>(16),
    entityId: text(40),
    createdAt: moment(),
  },
  [index("changes_time", ["createdAt"])],
);

export const Counter = table("counters", { name: id({ length: 32 }), value: bigInteger() });

/**
 * `api_key`: one key, by ID. `catalogue`: providers, credentials and models, reloaded as a whole. `data_key`:
 * a new data key. `limits`: the limits of a holder, by the ID of their row. `person` and
 * `team`: whether the keys of a holder work.
 */
export type ChangeKind = "api_key" | "catalogue" | "data_key" | "limits" | "person" | "team";
export type ChangeRow = RowOf<typeof Change>;
