import {
  bigInteger,
  columnsFor,
  id,
  index,
  integer,
  json,
  nullable,
  references,
  type Row,
  type RowOf,
  table,
  text,
} from "./table.ts";

export const rateNames = ["requestsPerMinute", "tokensPerMinute", "concurrentRequests"] as const;

export const budgetPeriods = ["day", "week", "month", "total"] as const;

/** The column of a period's budget, which is in nano-dollars. */
export const budgetColumn = (period: BudgetPeriod) => `${period}Budget` as const;

/** The limits of a key or of another holder. Null means that the limit is not set, so that a default applies. */
export const limitColumns = {
  ...columnsFor(rateNames, nullable(integer())),
  ...columnsFor(budgetPeriods.map(budgetColumn), nullable(bigInteger())),
  /** The allowed IP addresses and ranges. */
  addressRanges: nullable(json<string[]>()),
};

/** The limits of a holder other than a key. */
export const Limits = table("limits", {
  /** `gateway`, the ID of a user or team, or `people` or `keys` for each user or key without limits of its own. */
  holder: id(),
  ...limitColumns,
  /** Whether keys may use all models or only those in `AllowedModel`. Null if a default applies. */
  modelAccess: nullable(text<ModelAccess>(16)),
  /** The number of keys that a member may own. Null if a default applies. */
  keysMax: nullable(integer()),
  /** Increases with each edit, to detect concurrent edits. */
  revision: integer(),
});

/** A model that the keys of a holder may use, if the holder has a list of models. */
export const AllowedModel = table(
  "allowed_models",
  { holder: id(), modelId: id(references("models", "CASCADE")) },
  [index("allowed_models_model", ["modelId"])],
);

export const modelAccesses = ["all", "listed"] as const;
export type ModelAccess = (typeof modelAccesses)[number];
export type RateName = (typeof rateNames)[number];
export type BudgetPeriod = (typeof budgetPeriods)[number];
export type LimitColumns = Row<typeof limitColumns>;
export type LimitsRow = RowOf<typeof Limits>;
