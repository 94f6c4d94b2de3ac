import type { Database } from "../../db/database.ts";
import type { ModelFallbackRow, ModelRow } from "../../db/entities/model.ts";
import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import type { Settings } from "../config/variables.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import type { LimitsInForce } from "../limits/holders.ts";
import type { Log } from "../log.ts";
import type { Endpoint, UpstreamApi } from "../providers/provider.ts";
import type { Candidate } from "./candidate.ts";
import type { KnownKey } from "../keys/authenticate-key.ts";
import { isBareName, parseSlug } from "./slug.ts";
import { findProvider } from "../providers/registry.ts";
import type { UpstreamTimeouts } from "../upstream/upstream-call.ts";
import { openCredential } from "../credentials/credential.ts";
import { findModelFacts } from "../known-models/model-facts.ts";

export type CatalogueModel = Readonly<{
  id: string;
  slug: string;
  createdAt: Date;
  /** In tokens. Null if unknown. */
  contextWindow: number | null;
  /** One group for the model, then one group for each fallback, in order. */
  candidates: readonly (readonly Candidate[])[];
  /** The IDs of the models of these groups. */
  candidateModelIds: readonly string[];
}>;

type CatalogueOptions = {
  database: Database;
  secretBox: SecretBox;
  limits: Settings;
  log: Log;
  limitsInForce: Pick<LimitsInForce, "of">;
};

/** Every model with its candidates, in memory. Each change reloads the whole catalogue. */
export class Catalogue {
  readonly #options: CatalogueOptions;
  #models: ReadonlyMap<string, CatalogueModel> = new Map();
  #ids: ReadonlySet<string> = new Set();
  #reloading: Promise<void> = Promise.resolve();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  find(slug: string): CatalogueModel | undefined {
    return this.#models.get(slug);
  }

  /** Whether the key is connected to the model, and its payer may use it. */
  isCallable(key: KnownKey, { id }: CatalogueModel): boolean {
    return key.modelIds.has(id) && (this.#options.limitsInForce.of(key).fence?.has(id) ?? true);
  }

  /** The model without the fallbacks that the key's payer may not use. */
  fenced(key: KnownKey, model: CatalogueModel): CatalogueModel {
    const { fence } = this.#options.limitsInForce.of(key);
    if (fence === null || model.candidateModelIds.every((id) => fence.has(id))) return model;
    const candidates = model.candidates.filter((_, index) => fence.has(model.candidateModelIds[index] ?? ""));
    return { ...model, candidates };
  }

  hasAll(modelIds: ReadonlySet<string>): boolean {
    return [...modelIds].every((id) => this.#ids.has(id));
  }

  /** Sorted by slug. */
  list(): Iterable<CatalogueModel> {
    return this.#models.values();
  }

  /** Returns the usable candidates' chat endpoints, for `Upstreams.keepOnly`. */
  *endpoints(): Generator<Endpoint> {
    for (const { candidates } of this.#models.values()) {
      for (const { apis } of candidates.flat()) {
        const chat = apis["chat/completions"];
        if (chat) yield chat.endpoint;
      }
    }
  }

  /** Reloads run one after another, so that an older read never replaces a newer one. */
  reload(): Promise<void> {
    const reload = this.#reloading.then(() => this.#read());
    this.#reloading = reload.catch(() => {});
    return reload;
  }

  async #read(): Promise<void> {
    const rows = await this.#options.database.read(async ({ models, providers }) => ({
      models: await models.list(),
      fallbacks: await models.listFallbacks(),
      providers: await providers.list(),
      credentials: await providers.listCredentials(),
    }));
    this.#models = toCatalogue(rows, this.#options);
    this.#ids = new Set(rows.models.map(({ id }) => id));
  }
}

type CatalogueRows = {
  models: ModelRow[];
  fallbacks: ModelFallbackRow[];
  providers: ProviderRow[];
  credentials: CredentialRow[];
};

function toCatalogue(rows: CatalogueRows, options: CatalogueOptions): Map<string, CatalogueModel> {
  const credentials = Map.groupBy(rows.credentials, ({ providerId }) => providerId);
  const providers = new Map(
    rows.providers.map((row) => [row.id, connectProvider(row, credentials.get(row.id) ?? [], options)]),
  );
  const ownCandidates = new Map(
    rows.models.map((model) => [model.id, providers.get(model.providerId)?.(model) ?? []]),
  );
  const fallbacks = Map.groupBy(rows.fallbacks, ({ modelId }) => modelId);
  return new Map(
    rows.models.map(({ id, slug, createdAt, contextWindowTokens: contextWindow }) => {
      const fallbackIds = (fallbacks.get(id) ?? []).map(({ fallbackModelId }) => fallbackModelId);
      const candidateModelIds = [id, ...fallbackIds].filter((modelId) => ownCandidates.get(modelId)?.length);
      const candidates = candidateModelIds.map((modelId) => ownCandidates.get(modelId) ?? []);
      return [slug, { id, slug, createdAt, contextWindow, candidates, candidateModelIds }];
    }),
  );
}

/** A request resolves its route once, so that later changes to the catalogue do not affect the request. */
export type Route = CatalogueModel;

/** Throws `model_not_found`. The message does not reveal whether the model exists for other keys. */
export function resolveRoute(catalogue: Catalogue, key: KnownKey, slug: string): Route {
  const model = catalogue.find(slug);
  if (model && catalogue.isCallable(key, model)) return catalogue.fenced(key, model);
  // Only valid names are quoted, because messages go to terminals.
  const isBare = isBareName(slug);
  const name = isBare || parseSlug(slug) ? `\`${slug}\`` : "with this name";
  throw new GatewayError(
    "model_not_found",
    `The model ${name} does not exist or this API key is not connected to it. ${isBare ? suggestSlug(catalogue, key, slug) : "Use a model from GET /v1/models."}`,
    { param: "model" },
  );
}

function suggestSlug(catalogue: Catalogue, key: KnownKey, name: string): string {
  const suggestion = listModels(catalogue, key).find(({ slug }) => parseSlug(slug)?.modelName === name);
  return suggestion
    ? `Use \`${suggestion.slug}\`, or another model from GET /v1/models.`
    : "Use a name of the form `<provider>/<model_name>` from GET /v1/models.";
}

export function listModels(catalogue: Catalogue, key: KnownKey): CatalogueModel[] {
  return [...catalogue.list()].filter((model) => catalogue.isCallable(key, model));
}

/** Returns a function that lists a model's candidates: one per credential, or one without credentials. */
function connectProvider(
  row: ProviderRow,
  credentials: CredentialRow[],
  { secretBox, limits, log }: CatalogueOptions,
): (model: ModelRow) => Candidate[] {
  const timeouts = { ...defaultTimeouts(limits), ...row.timeouts };
  const connections: Connection[] = (credentials.length === 0 ? [null] : credentials).map((credential) => {
    const { id: credentialId, weight } = credential ?? { id: null, weight: 1 };
    try {
      return { credentialId, weight, api: connect(row, credential, secretBox), problem: null };
    } catch (error) {
      log.error({ provider: row.name, credentialId, error }, "the provider's settings are invalid");
      return { credentialId, weight, api: null, problem: toGatewayError(error) };
    }
  });
  return (model) => {
    const { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice, priceDetails } = model;
    const upstreamModel = {
      name: model.upstreamModel,
      outputTokensMax: model.outputTokensMax,
      canReason: findModelFacts(model.upstreamModel)?.capabilities.includes("reasoning"),
    };
    return connections.map(({ credentialId, weight, api, problem }) => ({
      providerId: row.id,
      providerName: row.name,
      providerKind: row.kind,
      preset: row.preset,
      credentialId,
      weight,
      upstreamModel,
      prices: { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice, priceDetails },
      costSource: row.costSource,
      chargeFactor: row.chargeFactor,
      timeouts,
      effectiveStatus: api?.effectiveStatus?.bind(api),
      ...(problem === null ? { apis: api.apis(upstreamModel), problem } : { apis: {}, problem }),
    }));
  };
}

type Connection = { credentialId: string | null; weight: number } & (
  | { api: UpstreamApi; problem: null }
  | { api: null; problem: GatewayError }
);

function connect(row: ProviderRow, credential: CredentialRow | null, secretBox: SecretBox): UpstreamApi {
  const provider = findProvider(row.kind);
  const secret = credential && openCredential(secretBox, credential);
  return provider.connect({ baseUrl: row.baseUrl ?? "", secret, preset: row.preset });
}

function defaultTimeouts(limits: Settings): UpstreamTimeouts {
  return {
    connectTimeoutMs: limits.upstreamConnectTimeoutMs,
    firstByteTimeoutMs: limits.upstreamFirstByteTimeoutMs,
    idleTimeoutMs: limits.upstreamIdleTimeoutMs,
    totalTimeoutMs: limits.upstreamTotalTimeoutMs,
  };
}
