import type { UsageDimension } from "../usage/usage-fields.ts";

type DimensionWords = {
  /** The value of the enum `UsageDimension`. */
  value: string;
  meaning?: string;
  /** Describes the field of `UsageRecord`. */
  record?: string;
  /** Describes the field of `UsageSummaryRow`. */
  row?: string;
  /** Describes the field of `UsageFilter`. */
  filter?: string;
};

/** How the API names and describes each dimension. The fields have the names of the dimensions. */
export const dimensionWords: Record<UsageDimension, DimensionWords> = {
  apiKeyId: { value: "API_KEY" },
  ownerId: {
    value: "OWNER",
    meaning: "The key's owner at the time of the request.",
    record: "The key's owner at the time of the request.",
    row: "The owner at the time of the request. Empty for keys without an owner.",
    filter: "The key's owner at the time of the request. An empty string selects keys without one.",
  },
  teamId: {
    value: "TEAM",
    meaning: "The team that paid.",
    record: "The team that paid. Null if the owner paid.",
    row: "The team that paid. Empty for requests that no team paid.",
    filter:
      "The team that paid. Its leads then see all its records, other members their own. An empty string selects records that no team paid.",
  },
  model: {
    value: "MODEL",
    record:
      "The `model` of the request. Empty if it was missing or is not stored: long text, keys, and names beyond the limit for unknown ones.",
    filter: "The `model` of the records. An empty string selects records without a model.",
  },
  provider: {
    value: "PROVIDER",
    record: "The provider that answered, or the last one called. Empty if no provider was called.",
    filter: "A provider's name.",
  },
  status: { value: "STATUS" },
  clientTool: {
    value: "TOOL",
    record: "The client's coding tool.",
    row: "The coding tool. Empty for all other clients.",
    filter: "The client's coding tool. An empty string selects all other clients.",
  },
  errorReason: {
    value: "ERROR_REASON",
    record:
      "Details of `errorCode`: the limit that rejected the request, such as `tokens_per_minute`, the provider's failure, such as `connection_refused` or `http_503`, or the gateway's own code. Null without an error.",
    row: "As in `UsageRecord`. Empty for requests without an error.",
    filter: "The `errorReason` of the records. An empty string selects records without one.",
  },
};
