import type { Database } from "../../../db/database.ts";
import { findKind } from "../../providers/registry.ts";
import { ownerScope, type Person } from "../../auth/person.ts";

/** The onboarding steps that are done. A step stays done after a deletion. */
export type OnboardingSteps = {
  /** Whether a provider other than the demo exists or was called. */
  hasProvider: boolean;
  /** Whether someone created a key or used one. For members, their own. */
  hasKey: boolean;
  /** Whether such a key made a request while a provider existed. */
  hasRequest: boolean;
};

/** The steps from an empty gateway to one in use. */
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
        // Before that, only the demo can have answered.
        hasRequest: hasProvider && hasUsedKey,
      };
    });
  }
}

/** The demo of the first start, which may be deleted. */
const firstDemo = "demo";
