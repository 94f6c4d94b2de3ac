import type { Database } from "../../../db/database.ts";
import { findKind } from "../../providers/registry.ts";
import { ownerScope, type Person } from "../../auth/person.ts";

/** What a newcomer has done already. What was done once counts, whatever was deleted later. */
export type OnboardingSteps = {
  /** Whether there is a provider besides the demo, or was one that was called. */
  hasProvider: boolean;
  /** Whether there is a key that somebody made, or was one that was used; for members, of their own. */
  hasKey: boolean;
  /** Whether a request was made with such a key, and there was a provider. */
  hasRequest: boolean;
};

/** The way from an empty gateway to one that is used. */
export class Onboarding {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  steps(person: Person): Promise<OnboardingSteps> {
    const owner = ownerScope(person);
    return this.#database.read(async ({ apiKeys, providers, usageRollUps }) => {
      const rows = await providers.list();
      const demos = rows.filter(({ kind }) => findKind(kind)?.isDemo).map(({ name }) => name);
      const hasProvider =
        demos.length < rows.length || (await usageRollUps.existsBesides([firstDemo, ...demos]));
      const hasUsedKey = await usageRollUps.existsOf(owner);
      return {
        hasProvider,
        hasKey: hasUsedKey || (await apiKeys.existsOf(owner)),
        // Before that only the demo can have answered.
        hasRequest: hasProvider && hasUsedKey,
      };
    });
  }
}

/** That of the first start, which may have been deleted. */
const firstDemo = "demo";
