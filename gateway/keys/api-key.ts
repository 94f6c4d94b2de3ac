import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import { type KeyLimits, toKeyLimits } from "../limits/key-limits.ts";
import { maskKeyValue } from "./key-value.ts";

/** An API key as people see it. */
export type ApiKey = {
  id: string;
  name: string;
  maskedValue: string;
  status: "active" | "disabled";
  /** `admin`: only an administrator can activate it. Null for an active key, and where it is unknown. */
  disabledBy: "admin" | "owner" | null;
  models: string[];
  /** What an administrator took away: only an administrator can connect it again. */
  withheldModels: string[];
  limits: KeyLimits;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  owner: { id: string; name: string } | null;
  /** One more with each change: what an edit names, so as not to undo somebody else's. */
  revision: number;
};

/** With how much of a budget is spent, once that is 80 or 100 percent. */
export type ListedApiKey = ApiKey & { budgetSpentPercent: number | null };

export function toApiKey({ key, values, models, withheldModels, owner }: ApiKeyDetails): ApiKey {
  // After a rotation the old value counts for a while too, but only the new one without an end.
  const current = values.find((value) => value.validUntil === null) ?? values[0];
  const connected = new Set(models.map((model) => model.slug));
  return {
    id: key.id,
    name: key.name,
    maskedValue: maskKeyValue(current?.lastFour ?? ""),
    status: key.status,
    disabledBy: key.status === "disabled" ? key.disabledBy : null,
    models: [...connected],
    // While an older release runs beside this one, it may connect a model without releasing it.
    withheldModels: withheldModels.filter((slug) => !connected.has(slug)),
    limits: toKeyLimits(key),
    createdAt: key.createdAt,
    lastUsedAt: key.lastUsedAt,
    expiresAt: key.expiresAt,
    owner,
    revision: key.revision,
  };
}
