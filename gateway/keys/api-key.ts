import { type ApiKeyDetails, type Stopper, stopperOf } from "../../db/repositories/api-key-repository.ts";
import { type Limits, toLimits } from "../limits/limit-table.ts";
import { fromFactorColumn } from "../usage/counting/charge-factor.ts";
import { maskKeyValue } from "./key-value.ts";

export type ApiKey = {
  id: string;
  name: string;
  maskedValue: string;
  status: "active" | "disabled";
  /**
   * Only an administrator can activate a key that `admin` deactivated, and its owner none that a `lead` of the team
   * deactivated. Null if active or unknown.
   */
  disabledBy: "admin" | "lead" | "owner" | null;
  models: string[];
  /** Models that an administrator removed. Only an administrator can connect them again. */
  withheldModels: string[];
  limits: Limits;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  /** When the values from before a rotation expire. May be past. Null without a recent rotation. */
  oldValueExpiresAt: Date | null;
  /** Null for a service key of a team, and for the key of the first start. */
  owner: { id: string; name: string } | null;
  /** The team that pays for the key's requests. Null if its owner pays. */
  team: { id: string; name: string } | null;
  /** `owner` if the key does not work because its owner is disabled, `team` if its team is not active. */
  stoppedBy: Stopper | null;
  /** The charge in relation to the cost: 1.15 adds 15 %. Null charges the cost. */
  chargeFactor: number | null;
  /** Increases with each change. An edit of an older revision is rejected. */
  revision: number;
};

/** The value is returned only once. */
export type NewApiKey = { key: ApiKey; value: string };

/** `budgetSpentPercent` is 80 or 100 once that percentage of a budget is spent. Null below 80. */
export type ListedApiKey = ApiKey & { budgetSpentPercent: number | null };

export function toApiKey({ key, values, models, withheldModels, owner, team }: ApiKeyDetails): ApiKey {
  // After a rotation, the old value stays valid for a while. Only the new value has no `validUntil`.
  const current = values.find((value) => value.validUntil === null) ?? values[0];
  const ends = values.flatMap(({ validUntil }) => validUntil?.getTime() ?? []);
  return {
    id: key.id,
    name: key.name,
    maskedValue: maskKeyValue(current?.lastFour ?? ""),
    status: key.status,
    disabledBy: key.status === "disabled" ? key.disabledBy : null,
    models: models.map((model) => model.slug),
    withheldModels,
    limits: toLimits(key),
    createdAt: key.createdAt,
    lastUsedAt: key.lastUsedAt,
    expiresAt: key.expiresAt,
    oldValueExpiresAt: ends.length === 0 ? null : new Date(Math.max(...ends)),
    owner: owner && { id: owner.id, name: owner.name },
    team: team && { id: team.id, name: team.name },
    stoppedBy: stopperOf({ owner, team }),
    chargeFactor: fromFactorColumn(key.chargeFactor),
    revision: key.revision,
  };
}
