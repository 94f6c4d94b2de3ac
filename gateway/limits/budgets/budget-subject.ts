import { type LimitEventRow, noKey } from "../../../db/entities/limit-event.ts";
import type { LimitHolder } from "../../errors.ts";

/** Whose budget a warning is about: a key's own, or one that a person's keys or all keys share. */
export type BudgetSubject = {
  scope: LimitHolder;
  /** Null where it is not a key's own. */
  apiKeyId: string | null;
  apiKeyName: string | null;
  /** The person whose keys they are; null for the gateway's budget, and for a key of nobody's. */
  ownerId: string | null;
};

type SubjectColumns = Pick<LimitEventRow, "apiKeyId" | "apiKeyName" | "ownerId">;

export function toSubjectColumns({ apiKeyId, apiKeyName, ownerId }: BudgetSubject): SubjectColumns {
  return { apiKeyId: apiKeyId ?? noKey, apiKeyName: apiKeyName ?? "", ownerId };
}

export function toBudgetSubject({ apiKeyId, apiKeyName, ownerId }: SubjectColumns): BudgetSubject {
  if (apiKeyId !== noKey) return { scope: "key", apiKeyId, apiKeyName, ownerId };
  return { scope: ownerId === null ? "gateway" : "person", apiKeyId: null, apiKeyName: null, ownerId };
}
