import type { Database } from "../../db/database.ts";
import { ownerScope, type Person } from "../auth/person.ts";

/** What a newcomer has done already. */
export type OnboardingSteps = {
  /** Whether there is a provider besides the demo. */
  hasProvider: boolean;
  /** Whether there is a key that somebody made; for members, of their own. */
  hasKey: boolean;
  /** Whether a request was made; for members, with a key of their own. */
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
    return this.#database.read(async ({ apiKeys, providers, usageRecords }) => ({
      hasProvider: await providers.existsBesides("demo"),
      hasKey: await apiKeys.existsOf(owner),
      hasRequest: await usageRecords.existsOf(owner),
    }));
  }
}
