import type { Database } from "../../../db/database.ts";
import { findKind } from "../../providers/registry.ts";
import { ownerScope, type Person } from "../../auth/person.ts";

/** A used provider or key counts even after its deletion. */
export type OnboardingSteps = {
  /** Whether a provider other than the demo exists or was called. */
  hasProvider: boolean;
  /** Whether a key with an owner exists or was used. For members, only their own keys count. */
  hasKey: boolean;
  /** Whether a key with an owner was used, and `hasProvider` is true. For members, only their own keys count. */
  hasRequest: boolean;
};

export class Onboarding {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  steps(person: Person): Promise<OnboardingSteps> {
    const owner = ownerScope(person);
    return this.#database.ask(person, async ({ apiKeys, providers, usageRollUps }) => {
      const rows = await providers.list();
      const demos = rows.filter(({ kind }) => findKind(kind)?.isDemo).map(({ name }) => name);
      const hasProvider =
        demos.length < rows.length || (await usageRollUps.existsBesides([firstDemo, ...demos]));
      const hasUsedKey = await usageRollUps.existsOf(owner);
      return {
        hasProvider,
        hasKey: hasUsedKey || (await apiKeys.existsOf(owner)),
        // Without a provider, only the demo can have answered.
        hasRequest: hasProvider && hasUsedKey,
      };
    });
  }
}

/** The demo provider of the first start, which may no longer exist. */
const firstDemo = "demo";
