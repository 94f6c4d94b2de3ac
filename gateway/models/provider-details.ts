import type { CredentialRow, ProviderRow, UpstreamTimeoutOverrides } from "../../db/entities/provider.ts";
import type { ProviderFields } from "../providers/provider.ts";
import { fromFactorColumn } from "../usage/counting/charge-factor.ts";
import { findKind } from "../providers/registry.ts";
import type { Repositories, Database } from "../../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { Runtime } from "../runtime.ts";

/** Contains at most the last four characters of a credential. */
export type ProviderDetails = {
  id: string;
  name: string;
  kind: string;
  /** Null for a custom upstream. */
  preset: string | null;
  kindLabel: string;
  fields: ProviderFields;
  baseUrl: string | null;
  timeouts: UpstreamTimeoutOverrides;
  /**
   * `provider` selects the cost that the provider reports, if any. Null selects the cost from the models'
   * prices.
   */
  costSource: "provider" | null;
  /** The charge divided by the cost: 1.15 adds 15 %. Null adds nothing. */
  chargeFactor: number | null;
  credentials: CredentialDetails[];
  createdAt: Date;
  /** Increases with each change. An edit of an outdated revision fails. */
  revision: number;
};

type CredentialDetails = { id: string; lastFour: string; weight: number; createdAt: Date };

/** @param credentials the credentials of this provider or of all providers */
export function toProviderDetails(row: ProviderRow, credentials: CredentialRow[]): ProviderDetails {
  const { id, name, kind, preset, baseUrl, timeouts, createdAt, revision } = row;
  const own = credentials.filter(({ providerId }) => providerId === id);
  const credentialDetails = own.map(toCredentialDetails);
  const { label: kindLabel, fields } = findKind(kind) ?? { label: kind, fields: unknownFields };
  const { costSource, chargeFactor } = row;
  const billing = { costSource, chargeFactor: fromFactorColumn(chargeFactor) };
  const described = { kind, kindLabel, fields, preset, baseUrl, timeouts, ...billing };
  return { id, name, ...described, credentials: credentialDetails, createdAt, revision };
}

/** Another version of the gateway may have stored a kind that this version does not support. */
const unknownFields: ProviderFields = { baseUrl: "required", apiKey: "optional" };

function toCredentialDetails({ id, lastFour, weight, createdAt }: CredentialRow): CredentialDetails {
  return { id, lastFour, weight, createdAt };
}

/** Throws `not_found` for an unknown provider. */
export async function findProviderRow({ providers }: Repositories, id: string): Promise<ProviderRow> {
  const row = await providers.find(id);
  if (!row)
    throw new GatewayError("not_found", "No provider has this ID. Reload the list of providers.", {
      param: "id",
    });
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
