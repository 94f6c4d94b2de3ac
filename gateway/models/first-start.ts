import type { Database } from "../../db/database.ts";
import type { KeyService } from "../keys/key-service.ts";
import type { ModelService } from "./model-service.ts";
import type { ProviderService } from "./provider-service.ts";
import type { Runtime } from "../runtime.ts";

type FirstStartOptions = {
  database: Database;
  runtime: Runtime;
  keys: KeyService;
  models: ModelService;
  providers: ProviderService;
  withKey: boolean;
};

/**
 * Adds the demo provider, its free model and, if `withKey` is set, an API key to an unused database. Returns the
 * key's value, or null without a new key.
 */
export function firstStart(options: FirstStartOptions): Promise<string | null> {
  const { database, runtime, keys, models, providers, withKey } = options;
  return database.write(async (repositories) => {
    await repositories.changes.lock();
    if ((await repositories.changes.latestNumber()) > 0) return null;
    const provider = await providers.insert(repositories, { name: "demo", kind: "demo" });
    const prices = { input: 0, output: 0 };
    const model = await models.insert(repositories, { slug: "demo/echo", providerId: provider.id, prices });
    await repositories.changes.append("catalogue", model.id, new Date(runtime.now()));
    return withKey ? keys.createFirst(repositories, "First key", model.id) : null;
  });
}
