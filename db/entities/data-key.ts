import { id, integer, longText, moment, type RowOf, table, text, uniqueIndex } from "./table.ts";

/** A key that seals secrets, wrapped by AWS KMS. It is never deleted, because sealed secrets may need it. */
export const DataKey = table(
  "data_keys",
  {
    /** The key ID that envelopes contain. */
    id: id(),
    /** The data key with the highest number seals secrets. Creation times are unreliable, because clocks differ. */
    number: integer(),
    /** The wrapped key, in base64. */
    wrapped: longText(),
    kmsKeyId: text(2048),
    createdAt: moment(),
  },
  [uniqueIndex("data_keys_number", ["number"])],
);

export type DataKeyRow = RowOf<typeof DataKey>;
