import { InitialSchema } from "./0001-initial-schema.ts";
import { SeveralWays } from "./0002-several-ways.ts";
import { PeopleAndAudit } from "./0003-people-and-audit.ts";
import { UsageHistory } from "./0004-usage-history.ts";
import { DataKeys } from "./0005-data-keys.ts";
import { KeyLimits } from "./0006-limits.ts";
import { RefusalsAndFailures } from "./0007-refusals-and-failures.ts";
import { AdministratorsDecisions } from "./0008-administrators-decisions.ts";
import { DroppedParts } from "./0009-dropped-parts.ts";
import { UsageAnalytics } from "./0011-usage-analytics.ts";
import { TrueCosts } from "./0012-true-costs.ts";
import { LeastCosts } from "./0013-least-costs.ts";
import { ProviderHalfHours } from "./0014-provider-half-hours.ts";
import { RequestTimings } from "./0015-request-timings.ts";

/** The result of a released migration must never change. */
export const migrations = [
  InitialSchema,
  SeveralWays,
  PeopleAndAudit,
  UsageHistory,
  DataKeys,
  KeyLimits,
  RefusalsAndFailures,
  AdministratorsDecisions,
  DroppedParts,
  UsageAnalytics,
  TrueCosts,
  LeastCosts,
  ProviderHalfHours,
  RequestTimings,
];
