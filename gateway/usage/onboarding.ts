import type { Database } from "../../db/database.ts";
import { ownerScope, type Person } from "../auth/person.ts";

/** What a newcomer has done already. */
export type OnboardingSteps = {
  /** Whether there is a provider besides the demo. */
  hasProvider: boolean;
  /** Whether there is a key that somebody made; for members, of their own. */
  hasKey: boolean;
  /** Whether a request was made with such a key, and there is a provider. */
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
    return this.#database.read(async ({ apiKeys, providers, usageRecords }) => {
      const hasProvider = await providers.existsBesides("demo");
      return {
        hasProvider,
        hasKey: await apiKeys.existsOf(owner),
        // Before that only the demo can have answered.
        hasRequest: hasProvider && (await usageRecords.existsOf(owner)),
      };
    });
  }
}
