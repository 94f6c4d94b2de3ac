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

export const Provider = table(
  "providers",
  {
    id: id(),
    /** The prefix of the slugs of the provider's models. */
    name: text(63),
    kind: text(32),
    preset: nullable(text(32)),
    baseUrl: nullable(text(2048)),
    timeouts: json<UpstreamTimeoutOverrides>(),
    /** With `provider`, a cost that the provider reports replaces the cost at the model's prices. */
    costSource: nullable(text<"provider">(16)),
    /** The factor of the charge, in ten-thousandths: 11500 adds 15 %. Null means a factor of 1. */
    chargeFactor: nullable(integer()),
    /** Increases with each edit of the provider or its credentials, to detect concurrent edits. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
  },
  [uniqueIndex("providers_name", ["name"])],
);

/** The gateway's secret for an upstream. `sealed` is an envelope of the secret box. */
export const Credential = table(
  "credentials",
  {
    id: id(),
    providerId: text(40, references("providers", "CASCADE")),
    sealed: longText(),
    lastFour: text(4),
    /** The credential's share of the requests, relative to the provider's other credentials. */
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
