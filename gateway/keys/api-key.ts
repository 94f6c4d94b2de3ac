import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import { type KeyLimits, toKeyLimits } from "../limits/key-limits.ts";
import { maskKeyValue } from "./key-value.ts";

/** An API key as people see it. */
export type ApiKey = {
  id: string;
  name: string;
  maskedValue: string;
  status: "active" | "disabled";
  models: string[];
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

export function toApiKey({ key, values, models, owner }: ApiKeyDetails): ApiKey {
  // After a rotation the old value counts for a while too, but only the new one without an end.
  const current = values.find((value) => value.validUntil === null) ?? values[0];
  return {
    id: key.id,
    name: key.name,
    maskedValue: maskKeyValue(current?.lastFour ?? ""),
    status: key.status,
    models: models.map((model) => model.slug),
    limits: toKeyLimits(key),
    createdAt: key.createdAt,
    lastUsedAt: key.lastUsedAt,
    expiresAt: key.expiresAt,
    owner,
    revision: key.revision,
  };
}
