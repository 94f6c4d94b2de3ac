import {
  bigInteger,
  id,
  index,
  integer,
  json,
  moment,
  nullable,
  references,
  type RowOf,
  table,
  text,
} from "./table.ts";

/** An API key. The secret is not stored: see `ApiKeyValue`. */
export const ApiKey = table(
  "api_keys",
  {
    id: id(),
    name: text(255),
    status: text<"active" | "disabled">(16),
    /** The role that disabled the key. Null if unknown. Ignored while the key is active. */
    disabledBy: nullable(text<"admin" | "owner">(16)),
    /** Null for the key of the first start, which precedes all users. */
    ownerId: nullable(text(40, references("users", "SET NULL"))),
    expiresAt: nullable(moment()),
    lastUsedAt: nullable(moment()),
    /** Increases with each change by a user. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
    /** Null applies the default of all keys. */
    requestsPerMinute: nullable(integer()),
    tokensPerMinute: nullable(integer()),
    concurrentRequests: nullable(integer()),
    /** Budgets in nano-dollars. */
    dayBudget: nullable(bigInteger()),
    weekBudget: nullable(bigInteger()),
    monthBudget: nullable(bigInteger()),
    totalBudget: nullable(bigInteger()),
    /** The allowed IP addresses and ranges. Null allows all. */
    addressRanges: nullable(json<string[]>()),
    /** The charge for the key's requests, in ten-thousandths of the cost. Null charges the cost. */
    chargeFactor: nullable(integer()),
  },
  [
    index("api_keys_owner", ["ownerId"]),
    index("api_keys_expiry", ["expiresAt"]),
    index("api_keys_last_use", ["lastUsedAt"]),
  ],
);

/**
 * A value that authenticates as the key. A rotated key keeps its old values, each until its `validUntil`.
 */
export const ApiKeyValue = table(
  "api_key_values",
  {
    /** SHA-256 of the key value, as 64 hex digits. */
    hash: id({ length: 64 }),
    apiKeyId: text(40, references("api_keys", "CASCADE")),
    lastFour: text(4),
    /** The expiry of the value. Null if it expires with the key. */
    validUntil: nullable(moment()),
    createdAt: moment(),
  },
  [index("api_key_values_key", ["apiKeyId"])],
);

export const ApiKeyModel = table(
  "api_key_models",
  {
    apiKeyId: id(references("api_keys", "CASCADE")),
    modelId: id(references("models", "CASCADE")),
  },
  [index("api_key_models_model", ["modelId"])],
);

/**
 * A model that an administrator removed from the key. The slug identifies it, so that deleting and adding the
 * model changes nothing.
 */
export const ApiKeyWithheldModel = table("api_key_withheld_models", {
  apiKeyId: id(references("api_keys", "CASCADE")),
  modelSlug: id({ length: 255 }),
});

export type ApiKeyRow = RowOf<typeof ApiKey>;
export type ApiKeyValueRow = RowOf<typeof ApiKeyValue>;
