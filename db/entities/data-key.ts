import { id, integer, longText, moment, type RowOf, table, text, uniqueIndex } from "./table.ts";

/** A key that seals secrets, wrapped by AWS KMS. Kept while sealed secrets may need it. */
export const DataKey = table(
  "data_keys",
  {
    /** The key ID that envelopes contain. */
    id: id(),
    /** Increases with each data key. The highest number seals. Clocks differ, so a time would not do. */
    number: integer(),
    /** The wrapped key, in base64. */
    wrapped: longText(),
    /** The ARN of the KMS key. */
    kmsKeyId: text(2048),
    createdAt: moment(),
  },
  [uniqueIndex("data_keys_number", ["number"])],
);

export type DataKeyRow = RowOf<typeof DataKey>;
