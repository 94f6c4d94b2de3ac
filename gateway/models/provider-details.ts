import type { CredentialRow, ProviderRow, UpstreamTimeoutOverrides } from "../../db/entities/provider.ts";
import type { ProviderFields } from "../providers/provider.ts";
import { findKind } from "../providers/registry.ts";

/** A provider as people see it. Of a credential no more than the last four characters is ever told. */
export type ProviderDetails = {
  id: string;
  name: string;
  kind: string;
  /** Which of the kind's well-known upstreams it is; null for any other. */
  preset: string | null;
  kindLabel: string;
  /** The settings of its kind. */
  fields: ProviderFields;
  baseUrl: string | null;
  timeouts: UpstreamTimeoutOverrides;
  credentials: CredentialDetails[];
  createdAt: Date;
  /** One more with each change: what an edit names, so as not to undo somebody else's. */
  revision: number;
};

type CredentialDetails = { id: string; lastFour: string; weight: number; createdAt: Date };

/** @param credentials everybody's, or its own. */
export function toProviderDetails(row: ProviderRow, credentials: CredentialRow[]): ProviderDetails {
  const { id, name, kind, preset, baseUrl, timeouts, createdAt, revision } = row;
  const own = credentials.filter(({ providerId }) => providerId === id);
  const credentialDetails = own.map(toCredentialDetails);
  const { label: kindLabel, fields } = findKind(kind) ?? { label: kind, fields: unknownFields };
  const described = { kind, kindLabel, fields, preset, baseUrl, timeouts };
  return { id, name, ...described, credentials: credentialDetails, createdAt, revision };
}

/** Of a kind that only another version of the gateway knows. */
const unknownFields: ProviderFields = { baseUrl: "required", apiKey: "optional" };

function toCredentialDetails({ id, lastFour, weight, createdAt }: CredentialRow): CredentialDetails {
  return { id, lastFour, weight, createdAt };
}
