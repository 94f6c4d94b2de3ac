import type { GatewayError } from "../errors.ts";
import type { EndpointName, ModelApis, UpstreamApi, UpstreamModel } from "../providers/provider.ts";
import type { UpstreamTimeouts } from "../upstream/upstream-call.ts";
import type { Prices } from "../usage/counting/cost.ts";

/** One provider, credential and upstream model that can answer a request. */
export type Candidate = UsableCandidate | UnusableCandidate;

export type UsableCandidate = Readonly<{
  providerId: string;
  providerName: string;
  providerKind: string;
  preset: string | null;
  /** Null for a provider without credentials. */
  credentialId: string | null;
  /** The credential's share of requests, relative to the provider's other credentials. */
  weight: number;
  upstreamModel: UpstreamModel;
  prices: Prices;
  /** With `provider`, a cost that the provider reports replaces the calculated cost. */
  costSource: "provider" | null;
  /** The provider's charge factor, in ten-thousandths. Null means a factor of 1. */
  chargeFactor: number | null;
  timeouts: UpstreamTimeouts;
  apis: ModelApis;
  effectiveStatus: UpstreamApi["effectiveStatus"];
  problem: null;
}>;

/** A candidate whose provider's settings or credential cannot be used. `problem` is the error for its requests. */
type UnusableCandidate = Omit<UsableCandidate, "apis" | "problem"> &
  Readonly<{ apis: { [Name in EndpointName]?: undefined }; problem: GatewayError }>;
