import type { Repositories } from "../../db/database.ts";
import type { ApiKeyValueRow } from "../../db/entities/api-key.ts";
import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import { ownerScope, type Person } from "../auth/person.ts";
import { type ApiKey, toApiKey } from "./api-key.ts";
import { visibleKey } from "./find-key.ts";
import { hashKeyValue } from "./authenticate-key.ts";
import type { SoughtKey } from "./key-inputs.ts";
import { isKeyValue } from "./key-value.ts";

type KeyMatch = {
  by: "value" | "lastFour" | "id";
  /** Whether a rotation replaced the matching value. It stays valid until `validUntil`. */
  isOldValue: boolean;
  validUntil: Date | null;
};

/** `others` lists further keys whose value ends in the same four characters, newest first. */
export type FoundKey = ApiKey & { match: KeyMatch; others: (ApiKey & { match: KeyMatch })[] };

type Match = { by: KeyMatch["by"]; details: ApiKeyDetails; value: ApiKeyValueRow | null };

/** Returns null if no visible key matches. Expired values match nothing. Only the hash of a value reaches the database. */
export async function searchKeys(
  repositories: Repositories,
  person: Person,
  search: SoughtKey,
  now: number,
): Promise<FoundKey | null> {
  const matches = await listMatches(repositories, person, search, now);
  const [first, ...others] = matches.map(({ by, details, value }) => {
    const validUntil = value?.validUntil ?? null;
    return { ...toApiKey(details), match: { by, isOldValue: validUntil !== null, validUntil } };
  });
  return first ? { ...first, others } : null;
}

async function listMatches(
  repositories: Repositories,
  person: Person,
  search: SoughtKey,
  now: number,
): Promise<Match[]> {
  const { apiKeys } = repositories;
  const isValid = ({ validUntil }: ApiKeyValueRow) => validUntil === null || validUntil.getTime() > now;
  const { value, id, lastFour } = readSearch(search);
  if (value !== undefined) {
    const hash = hashKeyValue(value);
    const known = await apiKeys.findByHash(hash);
    const details = known && isValid(known.value) && (await visibleKey(repositories, person, known.key.id));
    return details ? [{ by: "value", details, value: known.value }] : [];
  }
  if (id !== undefined) {
    const details = await visibleKey(repositories, person, id);
    return details ? [{ by: "id", details, value: null }] : [];
  }
  if (lastFour === undefined) return [];
  const found = await apiKeys.listByLastFour(lastFour, ownerScope(person), foundKeysMax);
  return found.flatMap((details) => {
    const match = details.values.find((each) => each.lastFour === lastFour && isValid(each));
    return match ? [{ by: "lastFour" as const, details, value: match }] : [];
  });
}

type ReadSearch = { value?: string; id?: string; lastFour?: string };

function readSearch(search: SoughtKey): ReadSearch {
  if ("value" in search) {
    const value = search.value.trim();
    return isKeyValue(value) ? { value } : {};
  }
  const text = search.text.trim();
  // A leaked value often stands in a line of a log or a settings file.
  const [value] = /sk-gateway-[0-9A-Za-z]{49}(?![0-9A-Za-z])/.exec(text) ?? [];
  if (value !== undefined) return isKeyValue(value) ? { value } : {};
  if (/^key_[0-9a-z]{26}$/.test(text)) return { id: text };
  const [, lastFour] = /^(?:sk-gateway-)?(?:…|\.{3}|[*•]+)?([0-9A-Za-z]{4})$/.exec(text) ?? [];
  return lastFour === undefined ? {} : { lastFour };
}

const foundKeysMax = 20;
