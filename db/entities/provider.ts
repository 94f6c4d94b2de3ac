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

/** Where requests can be sent. `name` is the prefix of its models' slugs. */
export const Provider = table(
  "providers",
  {
    id: id(),
    name: text(63),
    kind: text(32),
    /** Which of the kind's well-known upstreams it is; null for any other. */
    preset: nullable(text(32)),
    baseUrl: nullable(text(2048)),
    /** Timeouts that differ from the gateway's own, in milliseconds. */
    timeouts: json<UpstreamTimeoutOverrides>(),
    /** One more with each change, of its credentials too. */
    revision: integer({ default: 1 }),
    createdAt: moment(),
  },
  [uniqueIndex("providers_name", ["name"])],
);

/** Our own secret for an upstream. `sealed` is an envelope of the secret box, never the secret. */
export const Credential = table(
  "credentials",
  {
    id: id(),
    providerId: text(40, references("providers", "CASCADE")),
    sealed: longText(),
    lastFour: text(4),
    /** Its share of the provider's requests, beside the weights of the other credentials. */
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
