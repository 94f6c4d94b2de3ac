import { type ProviderDetails, toProviderDetails } from "./provider-details.ts";
import type { ProviderRow } from "../../db/entities/provider.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { Runtime } from "../runtime.ts";
import type { Database, Repositories } from "../../db/database.ts";

export type ProviderChangeOptions = { database: Database; runtime: Runtime; changeFeed: ChangeFeed };

/**
 * Changes providers in one transaction and notifies every process.
 * @param work returns the changed providers
 */
export async function changeProviders(
  { database, runtime, changeFeed }: ProviderChangeOptions,
  work: (repositories: Repositories) => Promise<ProviderRow[]>,
): Promise<ProviderDetails[]> {
  const changed = await database.write(async (repositories) => {
    const rows = await work(repositories);
    const [first] = rows;
    // One entry is enough, because each process reloads the whole catalogue.
    if (first) await repositories.changes.append("catalogue", first.id, new Date(runtime.now()));
    const credentials = await repositories.providers.listCredentials();
    return rows.map((row) => toProviderDetails(row, credentials));
  });
  await changeFeed.catchUp();
  return changed;
}

export async function changeProvider(
  options: ProviderChangeOptions,
  work: (repositories: Repositories) => Promise<ProviderRow>,
): Promise<ProviderDetails> {
  const [details] = await changeProviders(options, async (repositories) => [await work(repositories)]);
  if (details === undefined) throw new Error("The details of the provider are missing.");
  return details;
}
