import { limitColumns } from "./limits.ts";
import { id, index, integer, moment, nullable, references, type RowOf, table, text } from "./table.ts";

/** The key value is not stored. `ApiKeyValue` contains its hash. */
export const ApiKey = table(
  "api_keys",
  {
    id: id(),
    name: text(255),
    status: text<"active" | "disabled">(16),
    /** `admin` or `lead` if only an administrator or a lead may activate the key again. Null for active keys. */
    disabledBy: nullable(text<"admin" | "lead" | "owner">(16)),
    /** Null for a team's service key, and for the key of the first start, when no user exists yet. */
    ownerId: nullable(text(40, references("users", "SET NULL"))),
    /** The team that pays for the key's requests. Never changes. Null if its owner pays. */
    teamId: nullable(text(40)),
    expiresAt: nullable(moment()),
    lastUsedAt: nullable(moment()),
    /** Increases with each edit, to detect concurrent edits. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
    ...limitColumns,
    /** The factor of the charge, in ten-thousandths: 11500 adds 15 %. Null means a factor of 1. */
    chargeFactor: nullable(integer()),
  },
  [
    index("api_keys_owner", ["ownerId"]),
    index("api_keys_team", ["teamId"]),
    index("api_keys_expiry", ["expiresAt"]),
    index("api_keys_last_use", ["lastUsedAt"]),
  ],
);

/** The columns of a key, or of its requests, that name who else has limits for the key's requests. */
export const holderColumns = { person: "ownerId", team: "teamId" } as const satisfies Record<
  string,
  keyof ApiKeyRow
>;

type HolderColumn = (typeof holderColumns)[keyof typeof holderColumns];

/** The part of a key that determines who has limits for its requests. */
export type HeldKey = Readonly<Pick<ApiKeyRow, "id" | HolderColumn>>;

/** The holders of a key that only the gateway limits. */
export const noHolders = Object.fromEntries(
  Object.values(holderColumns).map((column) => [column, null]),
) as Record<HolderColumn, null>;

/** The hash of a key value. After a rotation, the old values stay valid until `validUntil`. */
export const ApiKeyValue = table(
  "api_key_values",
  {
    /** SHA-256 of the key value, as 64 hex digits. */
    hash: id({ length: 64 }),
    apiKeyId: text(40, references("api_keys", "CASCADE")),
    lastFour: text(4),
    /** Null if the value expires with the key. */
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
 * A model that members cannot connect to the key again, because an administrator removed it. The slug still
 * matches after the model is deleted and added again.
 */
export const ApiKeyWithheldModel = table("api_key_withheld_models", {
  apiKeyId: id(references("api_keys", "CASCADE")),
  modelSlug: id({ length: 255 }),
});

export type ApiKeyRow = RowOf<typeof ApiKey>;
export type ApiKeyValueRow = RowOf<typeof ApiKeyValue>;
