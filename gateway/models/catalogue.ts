import type { Database } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { type GatewayError, toGatewayError } from "../errors.ts";
import type { Limits } from "../limit-variables.ts";
import type { Log } from "../log.ts";
import type { Endpoint, LocalProvider } from "../providers/provider.ts";
import { findProvider } from "../providers/registry.ts";
import type { UpstreamTimeouts } from "../upstream/upstream-call.ts";
import { openCredential } from "./credential.ts";

/** A model that can be called, with everything that calling it takes. */
export type CatalogueModel = Readonly<{
  id: string;
  slug: string;
  createdAt: Date;
  upstreamModel: string;
  prices: Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice">;
  providerName: string;
  target: Target;
  timeouts: UpstreamTimeouts;
}>;

/** Who answers: an upstream, the provider itself, or nobody, for a reason that is the gateway's and not the client's. */
export type Target =
  | { reach: "network"; endpoint: Endpoint }
  | { reach: "local"; provider: LocalProvider }
  | { reach: "none"; reason: GatewayError };

type CatalogueOptions = { database: Database; secretBox: SecretBox; limits: Limits; log: Log };

/** All models with their providers, in memory: read at the start and again, as a whole, whenever one of them changes. */
export class Catalogue {
  readonly #options: CatalogueOptions;
  #models: ReadonlyMap<string, CatalogueModel> = new Map();
  #reloading: Promise<void> = Promise.resolve();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  find(slug: string): CatalogueModel | undefined {
    return this.#models.get(slug);
  }

  /** By slug. */
  list(): Iterable<CatalogueModel> {
    return this.#models.values();
  }

  /** The origins of all upstreams. */
  origins(): Set<string> {
    const targets = [...this.#models.values()].map(({ target }) => target);
    return new Set(targets.flatMap((target) => (target.reach === "network" ? target.endpoint.origin : [])));
  }

  /** Reads everything again. One after another: what was read first must not replace what was read later. */
  reload(): Promise<void> {
    const reload = this.#reloading.then(() => this.#read());
    this.#reloading = reload.catch(() => {});
    return reload;
  }

  async #read(): Promise<void> {
    const [models, providers, credentials] = await this.#options.database.read(async (repositories) => [
      await repositories.models.list(),
      await repositories.providers.list(),
      await repositories.providers.listCredentials(),
    ]);
    const called = new Map(providers.map((row) => [row.id, this.#toCalled(row, credentials)]));
    this.#models = new Map(
      models.flatMap((model) => {
        const provider = called.get(model.providerId);
        return provider ? [[model.slug, toCatalogueModel(model, provider)]] : [];
      }),
    );
  }

  #toCalled(row: ProviderRow, credentials: CredentialRow[]): CalledProvider {
    const timeouts = { ...defaultTimeouts(this.#options.limits), ...row.timeouts };
    try {
      return { providerName: row.name, target: this.#toTarget(row, credentials), timeouts };
    } catch (error) {
      this.#options.log.error({ provider: row.name, error }, "the provider cannot be called");
      return { providerName: row.name, target: { reach: "none", reason: toGatewayError(error) }, timeouts };
    }
  }

  #toTarget({ id, kind, baseUrl }: ProviderRow, credentials: CredentialRow[]): Target {
    const provider = findProvider(kind);
    if (provider.reach === "local") return { reach: "local", provider };
    const credential = credentials.find(({ providerId }) => providerId === id);
    const secret = credential ? openCredential(this.#options.secretBox, credential) : null;
    return { reach: "network", endpoint: provider.chatEndpoint({ baseUrl: baseUrl ?? "", secret }) };
  }
}

type CalledProvider = Pick<CatalogueModel, "providerName" | "target" | "timeouts">;

function toCatalogueModel(model: ModelRow, provider: CalledProvider): CatalogueModel {
  const { id, slug, createdAt, upstreamModel, inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } =
    model;
  const prices = { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice };
  return { id, slug, createdAt, upstreamModel, prices, ...provider };
}

function defaultTimeouts(limits: Limits): UpstreamTimeouts {
  return {
    connectTimeoutMs: limits.upstreamConnectTimeoutMs,
    firstByteTimeoutMs: limits.upstreamFirstByteTimeoutMs,
    idleTimeoutMs: limits.upstreamIdleTimeoutMs,
    totalTimeoutMs: limits.upstreamTotalTimeoutMs,
  };
}
