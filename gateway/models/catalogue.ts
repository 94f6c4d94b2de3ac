import type { Database } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import type { Limits } from "../limit-variables.ts";
import type { Log } from "../log.ts";
import type { Endpoint, Provider } from "../providers/provider.ts";
import { findProvider } from "../providers/registry.ts";
import type { UpstreamTimeouts } from "../upstream/upstream-call.ts";

/** A model that can be called, with everything that calling it takes. */
export type CatalogueModel = Readonly<{
  id: string;
  slug: string;
  createdAt: Date;
  upstreamModel: string;
  prices: Pick<ModelRow, "inputPrice" | "cachedInputPrice" | "cacheWritePrice" | "outputPrice">;
  providerName: string;
  provider: Provider;
  /** Where its chat completions go; null for a provider that answers by itself. */
  endpoint: Endpoint | null;
  timeouts: UpstreamTimeouts;
}>;

type CatalogueOptions = { database: Database; secretBox: SecretBox; limits: Limits; log: Log };

/** All models with their providers, in memory: read at the start and again, as a whole, whenever one of them changes. */
export class Catalogue {
  readonly #options: CatalogueOptions;
  #models: ReadonlyMap<string, CatalogueModel> = new Map();

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
    return new Set([...this.#models.values()].flatMap(({ endpoint }) => endpoint?.origin ?? []));
  }

  async reload(): Promise<void> {
    const [models, providers, credentials] = await this.#options.database.read(async (repositories) => [
      await repositories.models.list(),
      await repositories.providers.list(),
      await repositories.providers.listCredentials(),
    ]);
    const callable = new Map<string, Callable>();
    for (const row of providers) {
      const provider = this.#toCallable(row, credentials);
      if (provider) callable.set(row.id, provider);
    }
    this.#models = new Map(
      models.flatMap((model) => {
        const provider = callable.get(model.providerId);
        return provider ? [[model.slug, toCatalogueModel(model, provider)]] : [];
      }),
    );
  }

  /** Null when the provider cannot be called; the log says why, and its models are as good as absent. */
  #toCallable(row: ProviderRow, credentials: CredentialRow[]): Callable | null {
    const provider = findProvider(row.kind);
    if (!provider) {
      this.#options.log.error(
        { provider: row.name, kind: row.kind },
        "unknown kind of provider: its models cannot be used",
      );
      return null;
    }
    const timeouts = { ...defaultTimeouts(this.#options.limits), ...row.timeouts };
    if (provider.reach === "local") return { name: row.name, provider, endpoint: null, timeouts };
    try {
      const secret = this.#openFirst(credentials.filter(({ providerId }) => providerId === row.id));
      const endpoint = provider.chatEndpoint({ baseUrl: row.baseUrl ?? "", secret });
      return { name: row.name, provider, endpoint, timeouts };
    } catch (error) {
      this.#options.log.error(
        { provider: row.name, error },
        "the provider's credential cannot be opened: is MASTER_KEY the one that sealed it?",
      );
      return null;
    }
  }

  #openFirst([credential]: CredentialRow[]): string | null {
    if (!credential) return null;
    return this.#options.secretBox.open(credential.sealed, credentialField(credential.id));
  }
}

/** The place a provider's sealed credential is bound to. */
export function credentialField(id: string) {
  return { kind: "credential", id, field: "secret" };
}

type Callable = Readonly<{
  name: string;
  provider: Provider;
  endpoint: Endpoint | null;
  timeouts: UpstreamTimeouts;
}>;

function toCatalogueModel(model: ModelRow, { name, provider, endpoint, timeouts }: Callable): CatalogueModel {
  const { id, slug, createdAt, upstreamModel, inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } =
    model;
  const prices = { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice };
  return { id, slug, createdAt, upstreamModel, prices, providerName: name, provider, endpoint, timeouts };
}

function defaultTimeouts(limits: Limits): UpstreamTimeouts {
  return {
    connectTimeoutMs: limits.upstreamConnectTimeoutMs,
    firstByteTimeoutMs: limits.upstreamFirstByteTimeoutMs,
    idleTimeoutMs: limits.upstreamIdleTimeoutMs,
    totalTimeoutMs: limits.upstreamTotalTimeoutMs,
  };
}
