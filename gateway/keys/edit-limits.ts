import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import { differences } from "../audit/differences.ts";
import type { Person } from "../auth/person.ts";
import { GatewayError } from "../errors.ts";
import type { Settings } from "../config/limit-variables.ts";
import {
  budgetPeriods,
  changeLimits,
  type KeyLimitChanges,
  type KeyLimits,
  type LimitColumns,
  limitNames,
  toKeyLimits,
} from "../limits/key-limits.ts";

export type LimitEdit = { limits?: KeyLimitChanges | undefined; expiresAt?: Date | null | undefined };

type EditLimitsOptions = { author: Person; now: number; limits: KeyDefaults };

/** What counts for keys without a limit of their own; 0 = none. */
export type KeyDefaults = Pick<
  Settings,
  "keyRequestsPerMinuteMax" | "keyTokensPerMinuteMax" | "keyConcurrentRequestsMax"
>;

type LimitedRow = LimitColumns & Pick<ApiKeyRow, "expiresAt">;

/**
 * A key's limits and its end, as an edit makes them, and what the audit log says of it. Throws `invalid_value` for an end in
 * the past, and `forbidden` where somebody who is no administrator would loosen a limit: as in other products, whoever is
 * limited may be stricter with themselves, but not less strict than an administrator or the gateway's defaults are.
 */
export function editLimits(
  { author, now, limits: defaults }: EditLimitsOptions,
  before: LimitedRow,
  { limits = {}, expiresAt = before.expiresAt }: LimitEdit,
): { columns: LimitedRow; details: Record<string, unknown> } {
  if (expiresAt?.getTime() !== before.expiresAt?.getTime() && expiresAt && expiresAt.getTime() <= now) {
    throw new GatewayError("invalid_value", "The expiry is in the past.", { param: "expiresAt" });
  }
  const columns = { ...changeLimits(before, limits), expiresAt };
  const [from, to] = [before, columns].map((row) => ({ ...toKeyLimits(row), expiresAt: row.expiresAt }));
  if (!from || !to) throw new Error("Two rows are two rows");
  if (author.role !== "admin") checkNotLooser(from, to, defaults);
  return { columns, details: differences(from, to, [...limitNames, "expiresAt"]) };
}

type Limited = KeyLimits & { expiresAt: Date | null };

function checkNotLooser(from: Limited, to: Limited, defaults: KeyDefaults): void {
  const isHigher = (before: number | null, after: number | null) =>
    before !== null && (after === null || after > before);
  /** A key without a limit of its own has the default. */
  const inForce = (limit: number | null, byDefault: number) => limit ?? (byDefault || Infinity);
  const looser = [
    ...(
      [
        ["requestsPerMinute", defaults.keyRequestsPerMinuteMax],
        ["tokensPerMinute", defaults.keyTokensPerMinuteMax],
        ["concurrentRequests", defaults.keyConcurrentRequestsMax],
      ] as const
    ).map(([name, byDefault]) => [
      `limits.${name}`,
      inForce(to[name], byDefault) > inForce(from[name], byDefault),
    ]),
    ...budgetPeriods.map((period) => [
      `limits.budgetsUsd.${period}`,
      isHigher(from.budgetsUsd[period], to.budgetsUsd[period]),
    ]),
    [
      "limits.addressRanges",
      from.addressRanges !== null &&
        !(to.addressRanges ?? [""]).every((range) => from.addressRanges?.includes(range)),
    ],
    ["expiresAt", isHigher(from.expiresAt?.getTime() ?? null, to.expiresAt?.getTime() ?? null)],
  ] as const;
  const [param] = looser.find(([, isLooser]) => isLooser) ?? [];
  if (typeof param !== "string") return;
  const message = "You can make a limit stricter. Only an administrator can loosen one or take it away.";
  throw new GatewayError("forbidden", message, { param });
}
