import type { ModelRow } from "../../db/entities/model.ts";
import type { GatewayError } from "../errors.ts";
import type { ChatApi, EmbeddingsApi, UpstreamApi, UpstreamModel } from "../providers/provider.ts";
import type { UpstreamTimeouts } from "../upstream/upstream-call.ts";

/** One way to a model: a provider with one of our credentials for it, and everything that calling it takes. */
export type Candidate = Readonly<{
  providerId: string;
  providerName: string;
  /** The kind of its API, and the preset that it was made from; null where it was made without one. */
  providerKind: string;
  preset: string | null;
  /** Null where the provider needs none. */
  credentialId: string | null;
  /** The credential's share of the requests, beside the others of its provider. */
  weight: number;
  upstreamModel: UpstreamModel;
  prices: Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice">;
  timeouts: UpstreamTimeouts;
  /** An error where the provider cannot be called, for a reason that is the gateway's and not the client's. */
  target: Target | GatewayError;
}>;

/** The upstream's operations with this model. */
export type Target = {
  chat: ChatApi;
  /** Null where the upstream has none. */
  embeddings: EmbeddingsApi | null;
  dialects: NonNullable<UpstreamApi["dialects"]>;
  meantStatus: UpstreamApi["meantStatus"];
};
