import type { ModelRow } from "../../db/entities/model.ts";
import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import type { Settings } from "../config/limit-variables.ts";
import type { Log } from "../log.ts";
import type { UpstreamApi, UpstreamModel } from "../providers/provider.ts";
import { findProvider } from "../providers/registry.ts";
import type { UpstreamTimeouts } from "../upstream/upstream-call.ts";
import { openCredential } from "../credentials/credential.ts";
import { findModelFacts } from "../known-models/model-facts.ts";
import type { Target, Candidate } from "./candidate.ts";

type ConnectedProviderOptions = { secretBox: SecretBox; limits: Settings; log: Log };

export class ConnectedProvider {
  readonly #row: ProviderRow;
  readonly #timeouts: UpstreamTimeouts;
  readonly #connections: Connection[];

  constructor(
    row: ProviderRow,
    credentials: CredentialRow[],
    { secretBox, limits, log }: ConnectedProviderOptions,
  ) {
    this.#row = row;
    this.#timeouts = { ...defaultTimeouts(limits), ...row.timeouts };
    this.#connections = (credentials.length === 0 ? [null] : credentials).map((credential) => {
      const { id: credentialId, weight } = credential ?? { id: null, weight: 1 };
      try {
        return { credentialId, weight, api: connect(row, credential, secretBox) };
      } catch (error) {
        log.error({ provider: row.name, credentialId, error }, "the provider's settings are invalid");
        return { credentialId, weight, api: toGatewayError(error) };
      }
    });
  }

  /** Returns one candidate per credential. A provider without credentials has one candidate. */
  candidatesFor(model: ModelRow): Candidate[] {
    const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice, priceDetails } = model;
    const upstreamModel = {
      name: model.upstreamModel,
      outputTokensMax: model.outputTokensMax,
      canReason: findModelFacts(model.upstreamModel)?.capabilities.includes("reasoning"),
    };
    return this.#connections.map(({ credentialId, weight, api }) => ({
      providerId: this.#row.id,
      providerName: this.#row.name,
      providerKind: this.#row.kind,
      preset: this.#row.preset,
      credentialId,
      weight,
      upstreamModel,
      prices: { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice, priceDetails },
      costSource: this.#row.costSource,
      chargeFactor: this.#row.chargeFactor,
      timeouts: this.#timeouts,
      target: api instanceof GatewayError ? api : toTarget(api, upstreamModel),
    }));
  }
}

type Connection = { credentialId: string | null; weight: number; api: UpstreamApi | GatewayError };

function connect(row: ProviderRow, credential: CredentialRow | null, secretBox: SecretBox): UpstreamApi {
  const provider = findProvider(row.kind);
  const secret = credential ? openCredential(secretBox, credential) : null;
  return provider.connect({ baseUrl: row.baseUrl ?? "", secret, preset: row.preset });
}

function toTarget(api: UpstreamApi, model: UpstreamModel): Target {
  return {
    chat: api.chat(model),
    embeddings: api.embeddings(model),
    dialects: api.dialects ?? {},
    effectiveStatus: api.effectiveStatus?.bind(api),
  };
}

function defaultTimeouts(limits: Settings): UpstreamTimeouts {
  return {
    connectTimeoutMs: limits.upstreamConnectTimeoutMs,
    firstByteTimeoutMs: limits.upstreamFirstByteTimeoutMs,
    idleTimeoutMs: limits.upstreamIdleTimeoutMs,
    totalTimeoutMs: limits.upstreamTotalTimeoutMs,
  };
}
