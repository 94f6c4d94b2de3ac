import {
  changeProvider,
  changeProviders,
  type ProviderChangeOptions,
  findProviderRow,
  type ProviderDetails,
  toProviderDetails,
} from "./provider-details.ts";
import type { Repositories } from "../../db/database.ts";
import { DuplicateError, StillReferencedError } from "../../db/database-errors.ts";
import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { type AuditLog, differences, listSome } from "../audit/audit-log.ts";
import type { Author } from "../auth/person.ts";
import { changedMeanwhile, GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { ProviderKindName } from "../providers/registry.ts";
import type { AddressGuard } from "../upstream/address-guard.ts";
import type { CoolDowns } from "../routing/cool-downs.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { type NewCredential, sealCredential } from "../credentials/credential.ts";
import { deleteModel } from "./model-rows.ts";
import { type DiscoveredModel, describeModels } from "./discovered-models.ts";
import type { EnvironmentKey, EnvironmentKeys } from "../config/environment-keys.ts";
import { type HealthHistory, readHealthHistory } from "./health-history.ts";
import { type Impact, readImpact } from "./impact.ts";
import { type ProviderHealth, readProviderHealth } from "./provider-health.ts";
import type { NewProvider, ProviderChanges } from "./provider-inputs.ts";
import { type CheckedSettings, checkConnection, checkSettings } from "./provider-settings.ts";
import { toBillingColumns } from "../usage/counting/charge-factor.ts";
import { checkVersionPath, listUpstreamModels, type ProviderTest, testProvider } from "./test-provider.ts";

type ProviderServiceOptions = ProviderChangeOptions & {
  audit: AuditLog;
  secretBox: SecretBox;
  guard: AddressGuard;
  upstreams: Upstreams;
  coolDowns: CoolDowns;
  environmentKeys: EnvironmentKeys;
};

/** A provider's name is part of its models' slugs and never changes. */
export class ProviderService {
  readonly #options: ProviderServiceOptions;

  constructor(options: ProviderServiceOptions) {
    this.#options = options;
  }

  /** Returns the providers sorted by name. */
  async list(): Promise<ProviderDetails[]> {
    return this.#options.database.read(async ({ providers }) => {
      const credentials = await providers.listCredentials();
      return (await providers.list()).map((row) => toProviderDetails(row, credentials));
    });
  }

  /** A missing base URL comes from the preset or the kind. */
  async create(author: Author, provider: NewProvider): Promise<ProviderDetails> {
    const settings = await this.#check(provider);
    await checkVersionPath(settings, provider.apiKey ?? null, this.#options.upstreams);
    try {
      return await changeProvider(this.#options, (repositories) =>
        this.#insertBy(author, repositories, { ...provider, ...settings }),
      );
    } catch (error) {
      throw error instanceof DuplicateError ? nameTaken(provider.name, "name") : error;
    }
  }

  /** The caller's transaction must append a catalogue change. Does not check the settings. */
  async insert(
    { providers }: Repositories,
    { name, kind, preset = null, baseUrl = null, timeouts = {}, apiKey, ...billing }: NewProvider,
  ): Promise<ProviderRow> {
    const id = createId("prv", this.#options.runtime);
    const settings = { name, kind, preset, baseUrl, timeouts, ...toBillingColumns(billing) };
    const row = {
      costSource: null,
      chargeFactor: null,
      ...settings,
      id,
      revision: 1,
      createdAt: this.#now(),
    };
    await providers.insert(row);
    if (apiKey !== undefined) await providers.insertCredential(this.#seal({ providerId: id, apiKey }));
    return row;
  }

  /** Keeps the values that `changes` omits. */
  async update(author: Author, changes: ProviderChanges): Promise<ProviderDetails> {
    const { id, preset, baseUrl, timeouts, revision } = changes;
    const { row } = await this.#read(id);
    const moved = {
      kind: row.kind as ProviderKindName,
      preset: preset === undefined ? row.preset : preset,
      baseUrl: baseUrl ?? row.baseUrl,
    };
    const isMoving = preset !== undefined || baseUrl !== undefined;
    const settings = isMoving ? await this.#check(moved) : null;
    return changeProvider(this.#options, async (repositories) => {
      const isCurrent = await repositories.providers.nextRevision(id, revision);
      const before = await findProviderRow(repositories, id);
      if (!isCurrent) throw changedMeanwhile("provider", before.revision);
      await repositories.providers.update(id, {
        ...(settings && { preset: settings.preset, baseUrl: settings.baseUrl }),
        ...(timeouts !== undefined && { timeouts }),
        ...toBillingColumns(changes),
      });
      const after = await findProviderRow(repositories, id);
      const details = differences(toPublicRow(before), toPublicRow(after), editedFields);
      await this.#options.audit.record(repositories, author, "provider.update", after, details);
      return after;
    });
  }

  health(): Promise<ProviderHealth[]> {
    return readProviderHealth(this.#options);
  }

  healthHistory(until: number): Promise<HealthHistory> {
    return readHealthHistory(this.#options.database, until);
  }

  impact(id: string): Promise<Impact> {
    return this.#options.database.read(async (repositories) => {
      await findProviderRow(repositories, id);
      return readImpact(repositories, await repositories.models.list({ providerId: id }));
    });
  }

  /** Throws `conflict` if the provider has models and `withModels` is false. */
  async delete(author: Author, id: string, withModels: boolean): Promise<void> {
    const { audit, changeFeed } = this.#options;
    try {
      await changeFeed.edit("catalogue", async (repositories) => {
        const entity = await findProviderRow(repositories, id);
        const models = withModels ? await repositories.models.list({ providerId: id }) : [];
        for (const model of models) await deleteModel(repositories, model, this.#now());
        await repositories.providers.delete(id);
        const details = { models: listSome(models.map(({ slug }) => slug)) };
        await audit.record(repositories, author, "provider.delete", entity, details);
        return [id, null];
      });
    } catch (error) {
      if (!(error instanceof StillReferencedError)) throw error;
      const message = "The provider still has models. Delete the models first.";
      throw new GatewayError("conflict", message, { param: "id" });
    }
  }

  async test(id: string): Promise<ProviderTest> {
    const { row, credentials } = await this.#read(id);
    return testProvider(row, credentials, this.#options);
  }

  /** Throws `upstream_error` if the model list cannot be read. */
  async discoverModels(id: string): Promise<{ models: DiscoveredModel[] }> {
    const { row, credentials, models } = await this.#read(id);
    const { ok, message, models: names } = await listUpstreamModels(row, credentials, this.#options);
    if (!ok) throw new GatewayError("upstream_error", message, { param: "id" });
    return { models: await describeModels(names, row, models, this.#options.runtime.now()) };
  }

  /** Returns `host:port` entries, where IPv6 addresses have no brackets, or `*` for any host. */
  privateHosts(): string[] {
    return this.#options.guard.privateHosts;
  }

  async environmentKeys(): Promise<EnvironmentKey[]> {
    return this.#options.environmentKeys.describe(await this.list());
  }

  /** Creates a provider for each variable, named after the variable's preset. Creates none if one fails. */
  async importFromEnvironment(author: Author, variables: string[]): Promise<ProviderDetails[]> {
    const made: NewProvider[] = [];
    for (const [index, variable] of variables.entries()) {
      const provider = this.#options.environmentKeys.toProvider(variable, `variables.${index}`);
      made.push({ ...provider, ...(await this.#check(provider)) });
    }
    return changeProviders(this.#options, async (repositories) => {
      const taken = new Set((await repositories.providers.list()).map(({ name }) => name));
      const rows: ProviderRow[] = [];
      for (const [index, provider] of made.entries()) {
        if (taken.has(provider.name)) throw nameTaken(provider.name, `variables.${index}`);
        taken.add(provider.name);
        rows.push(await this.#insertBy(author, repositories, provider));
      }
      return rows;
    });
  }

  async #insertBy(author: Author, repositories: Repositories, provider: NewProvider): Promise<ProviderRow> {
    const row = await this.insert(repositories, provider);
    const { kind, preset, baseUrl } = toPublicRow(row);
    const details = { kind, preset, baseUrl, hasCredential: provider.apiKey !== undefined };
    await this.#options.audit.record(repositories, author, "provider.create", row, details);
    return row;
  }

  async #check(provider: Omit<NewProvider, "name">): Promise<CheckedSettings> {
    const settings = await checkSettings(provider, this.#options.guard);
    checkConnection(settings, provider.apiKey ?? null);
    return settings;
  }

  #read(id: string) {
    return this.#options.database.read(async (repositories) => {
      const { models, providers } = repositories;
      return {
        row: await findProviderRow(repositories, id),
        credentials: (await providers.listCredentials()).filter(({ providerId }) => providerId === id),
        models: (await models.list()).filter(({ providerId }) => providerId === id),
      };
    });
  }

  #seal(credential: NewCredential): CredentialRow {
    return sealCredential(this.#options.secretBox, this.#options.runtime, credential);
  }

  #now(): Date {
    return new Date(this.#options.runtime.now());
  }
}

const editedFields = ["preset", "baseUrl", "timeouts", "costSource", "chargeFactor"] as const;

/** Removes the base URL's query from audit details, because the query may contain a key. */
function toPublicRow(row: ProviderRow): ProviderRow {
  return { ...row, baseUrl: row.baseUrl?.split("?")[0] ?? null };
}

function nameTaken(name: string, param: string): GatewayError {
  return new GatewayError("conflict", `The provider ${name} already exists. Choose another name.`, { param });
}
