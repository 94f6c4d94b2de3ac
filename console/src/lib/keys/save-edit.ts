import { explainError } from "#lib/session/explain-error.ts";
import type { ApiKey } from "./key-cache.ts";

type Edit = {
  /** The key as it was last seen. */
  key: ApiKey;
  /** Whether what was edited is still as it was when the edit began. */
  isUntouched: (key: ApiKey) => boolean;
  save: (revision: number) => Promise<ApiKey>;
  reload: () => Promise<ApiKey>;
};

/**
 * Saves an edit of one part of a key. Somebody else's change of another part does not stand in its way; one of the same part
 * does, and then nothing is saved and the answer is null: the reloaded key shows what it is now.
 */
export async function saveEdit({ key, isUntouched, save, reload }: Edit): Promise<ApiKey | null> {
  let current = key;
  for (let tries = 1; isUntouched(current); tries++) {
    try {
      return await save(current.revision);
    } catch (error) {
      if (explainError(error).code !== "CONFLICT" || tries === triesMax) throw error;
    }
    current = await reload();
  }
  return null;
}

/** More often than that nobody is faster by chance. */
const triesMax = 5;
