import type { QueryClient } from "@tanstack/svelte-query";
import { explainError } from "#lib/session/explain-error.ts";
import { type ApiKey, keyQuery, rememberKey } from "./key-cache.ts";

type Edit = {
  queries: QueryClient;
  /** The key as it was last seen. */
  key: ApiKey;
  /** Whether what was edited is still as it was when the edit began. */
  isUntouched: (key: ApiKey) => boolean;
  save: (revision: number) => Promise<ApiKey>;
};

/**
 * Saves an edit of one part of a key, which is shown so from now on. Somebody else's change of another part does not stand
 * in its way; one of the same part does, and then nothing is saved and the answer is null: the reloaded key shows what it
 * is now.
 */
export async function saveEdit({ queries, key, isUntouched, save }: Edit): Promise<ApiKey | null> {
  let current = key;
  for (let tries = 1; isUntouched(current); tries++) {
    try {
      const saved = await save(current.revision);
      await rememberKey(queries, saved);
      return saved;
    } catch (error) {
      if (explainError(error).code !== "CONFLICT" || tries === triesMax) throw error;
    }
    current = await queries.fetchQuery({ ...keyQuery(key.id), staleTime: 0 });
  }
  return null;
}

/** More often than that nobody is faster by chance. */
const triesMax = 5;
