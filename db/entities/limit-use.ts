import { bigInteger, id, index, integer, type RowOf, table } from "./table.ts";

/** What one process let through within one second, for all others to count: of the last minute or two only. */
export const LimitUse = table(
  "limit_uses",
  {
    processId: id(),
    /** What is limited: an API key's id, a person's, or `gateway`. */
    subjectId: id(),
    /** Seconds since 1970. */
    second: { ...bigInteger(), primary: true },
    requests: integer(),
    tokens: bigInteger(),
  },
  [index("limit_uses_second", ["second"])],
  { withoutRowid: true },
);

export type LimitUseRow = RowOf<typeof LimitUse>;
