import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { ProviderFields } from "../providers/provider.ts";
import { fromFactorColumn } from "../usage/counting/charge-factor.ts";
import { findKind } from "../providers/registry.ts";
import type { Repositories, Database } from "../../db/database.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { Runtime } from "../runtime.ts";
import { noProvider } from "./model-rows.ts";

/** Contains at most the last four characters of a credential. */
export type ProviderDetails = Omit<ProviderRow, "chargeFactor"> & {
  kindLabel: string;
  fields: ProviderFields;
  /** The charge divided by the cost: 1.15 adds 15 %. Null adds nothing. */
  chargeFactor: number | null;
  credentials: Pick<CredentialRow, "id" | "lastFour" | "weight" | "createdAt">[];
};

/** @param credentials the credentials of this provider or of all providers */
export function toProviderDetails(row: ProviderRow, credentials: CredentialRow[]): ProviderDetails {
  const { id, kind } = row;
  const own = credentials.filter(({ providerId }) => providerId === id);
  const { label: kindLabel, fields } = findKind(kind) ?? { label: kind, fields: unknownFields };
  const chargeFactor = fromFactorColumn(row.chargeFactor);
  return { ...row, kindLabel, fields, chargeFactor, credentials: own.map(describe) };
}

/** Another version of the gateway may have stored a kind that this version does not support. */
const unknownFields: ProviderFields = { baseUrl: "required", apiKey: "optional" };

function describe({ id, lastFour, weight, createdAt }: CredentialRow) {
  return { id, lastFour, weight, createdAt };
}

/** Throws `not_found` for an unknown provider. */
export async function findProviderRow({ providers }: Repositories, id: string): Promise<ProviderRow> {
  const row = await providers.find(id);
  if (!row) throw noProvider("id");
  return row;
}

export type ProviderChangeOptions = { database: Database; runtime: Runtime; changeFeed: ChangeFeed };

/**
 * Changes providers in one transaction and notifies every process.
 * @param work returns the changed providers
 */
export function changeProviders(
  { changeFeed }: ProviderChangeOptions,
  work: (repositories: Repositories) => Promise<ProviderRow[]>,
): Promise<ProviderDetails[]> {
  return changeFeed.edit("catalogue", async (repositories) => {
    const rows = await work(repositories);
    const credentials = await repositories.providers.listCredentials();
    // One ID is enough, because each process reloads the whole catalogue.
    return [rows[0]?.id, rows.map((row) => toProviderDetails(row, credentials))];
  });
}

export async function changeProvider(
  options: ProviderChangeOptions,
  work: (repositories: Repositories) => Promise<ProviderRow>,
): Promise<ProviderDetails> {
  const [details] = await changeProviders(options, async (repositories) => [await work(repositories)]);
  if (details === undefined) throw new Error("The details of the provider are missing.");
  return details;
}
