import { id, integer, longText, moment, type RowOf, table, text, uniqueIndex } from "./table.ts";

/** A key that seals secrets, itself wrapped by AWS KMS. Kept as long as anything may be sealed with it. */
export const DataKey = table(
  "data_keys",
  {
    /** As envelopes name it. */
    id: id(),
    /** Counts up; the highest is the one that seals. Not a time: clocks differ. */
    number: integer(),
    /** What KMS made of it, in base64. */
    wrapped: longText(),
    /** The ARN of the KMS key. */
    kmsKeyId: text(2048),
    createdAt: moment(),
  },
  [uniqueIndex("data_keys_number", ["number"])],
);

export type DataKeyRow = RowOf<typeof DataKey>;
