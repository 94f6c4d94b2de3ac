import type { QueryClient } from "@tanstack/svelte-query";
import { explainError } from "#lib/session/explain-error.ts";
import { type ApiKey, keyQuery, rememberKey } from "./key-cache.ts";

type Edit = {
  queries: QueryClient;
  /** The key as last loaded. */
  key: ApiKey;
  /** Whether the edited part is unchanged since the start of the edit. */
  isUntouched: (key: ApiKey) => boolean;
  save: (revision: number) => Promise<ApiKey>;
};

/**
 * Saves an edit of one part of a key, despite concurrent changes to other parts. If another user changed the
 * same part, saves nothing and returns null.
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

/** Other users' edits rarely cause more conflicts in a row. */
const triesMax = 5;
