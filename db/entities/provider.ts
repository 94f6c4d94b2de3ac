import {
  id,
  index,
  integer,
  json,
  longText,
  moment,
  nullable,
  references,
  type RowOf,
  table,
  text,
  uniqueIndex,
} from "./table.ts";

/** `name` is the prefix of the slugs of the provider's models. */
export const Provider = table(
  "providers",
  {
    id: id(),
    name: text(63),
    kind: text(32),
    /** Null for a custom upstream. */
    preset: nullable(text(32)),
    baseUrl: nullable(text(2048)),
    /** Timeouts that override the gateway's, in milliseconds. */
    timeouts: json<UpstreamTimeoutOverrides>(),
    /** Null calculates costs from the models' prices. */
    costSource: nullable(text<"provider">(16)),
    /** The charge for the provider's requests, in ten-thousandths of the cost. Null charges the cost. */
    chargeFactor: nullable(integer()),
    /** Increases with each change, including those of its credentials. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
  },
  [uniqueIndex("providers_name", ["name"])],
);

/** The gateway's secret for an upstream. `sealed` is an envelope of the secret box, never the secret. */
export const Credential = table(
  "credentials",
  {
    id: id(),
    providerId: text(40, references("providers", "CASCADE")),
    sealed: longText(),
    lastFour: text(4),
    /** The credential's share of the provider's requests, relative to the other weights. */
    weight: integer({ default: 1 }),
    createdAt: moment(),
  },
  [index("credentials_provider", ["providerId"])],
);

export type UpstreamTimeoutOverrides = {
  connectTimeoutMs?: number;
  firstByteTimeoutMs?: number;
  idleTimeoutMs?: number;
  totalTimeoutMs?: number;
};

export type ProviderRow = RowOf<typeof Provider>;
export type CredentialRow = RowOf<typeof Credential>;
