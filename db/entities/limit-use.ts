import { bigInteger, id, index, integer, type RowOf, table } from "./table.ts";

/**
 * One process's requests and tokens for a limit holder in one second. Other processes add these numbers to their
 * own counts.
 */
export const LimitUse = table(
  "limit_uses",
  {
    processId: id(),
    /** The limit holder: the ID of a key or a user, or `gateway`. */
    subjectId: id(),
    /** Unix time in seconds. */
    second: { ...bigInteger(), primary: true },
    requests: integer(),
    tokens: bigInteger(),
  },
  [index("limit_uses_second", ["second"])],
  { withoutRowid: true },
);

export type LimitUseRow = RowOf<typeof LimitUse>;
