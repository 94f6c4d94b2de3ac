import type { Database, Repositories } from "../../db/database.ts";
import { DuplicateError, StillReferencedError } from "../../db/database-errors.ts";
import type { CredentialRow, ProviderRow, UpstreamTimeoutOverrides } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import type { ProviderKindName } from "../providers/registry.ts";
import type { Runtime } from "../runtime.ts";
import type { AddressGuard } from "../upstream/address-guard.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { type NewCredential, sealCredential } from "./credential.ts";
import { type DiscoveredModel, describeModels } from "./discovered-models.ts";
import type { EnvironmentKey, EnvironmentKeys } from "./environment-keys.ts";
import { type ProviderDetails, toProviderDetails } from "./provider-details.ts";
import {
  type CheckedSettings,
  checkConnection,
  checkSettings,
  type ProviderSettingsInput,
} from "./provider-settings.ts";
import { askForModels, type ProviderTest, testProvider } from "./test-provider.ts";

export type NewProvider = ProviderSettingsInput & {
  name: string;
  apiKey?: string | undefined;
  timeouts?: UpstreamTimeoutOverrides | undefined;
};

export type ProviderChanges = Pick<NewProvider, "preset" | "timeouts"> & { baseUrl?: string | undefined };

type ProviderServiceOptions = {
  database: Database;
  runtime: Runtime;
  changeFeed: ChangeFeed;
  secretBox: SecretBox;
  guard: AddressGuard;
  upstreams: Upstreams;
  environmentKeys: EnvironmentKeys;
};

/** The providers and our credentials for them. A provider's name is part of its models' slugs and never changes. */
export class ProviderService {
  readonly #options: ProviderServiceOptions;

  constructor(options: ProviderServiceOptions) {
    this.#options = options;
  }

  /** By name. */
  async list(): Promise<ProviderDetails[]> {
    return this.#options.database.read(async ({ providers }) => {
      const credentials = await providers.listCredentials();
      return (await providers.list()).map((row) => toProviderDetails(row, credentials));
    });
  }

  /** What is not given is the preset's, or the kind's. */
  async create(provider: NewProvider): Promise<ProviderDetails> {
    const settings = await this.#check(provider);
    try {
      return await this.#change((repositories) => this.insert(repositories, { ...provider, ...settings }));
    } catch (error) {
      throw error instanceof DuplicateError ? nameTaken(provider.name, "name") : error;
    }
  }

  /**
   * `create` as part of a larger transaction, which has to append to the change feed itself. The settings must have been
   * checked.
   */
  async insert(
    { providers }: Repositories,
    { name, kind, preset = null, baseUrl = null, timeouts = {}, apiKey }: NewProvider,
  ): Promise<ProviderRow> {
    const id = createId("prv", this.#options.runtime);
    const row = { id, name, kind, preset, baseUrl, timeouts, createdAt: this.#now() };
    await providers.insert(row);
    if (apiKey !== undefined) await providers.insertCredential(this.#seal({ providerId: id, apiKey }));
    return row;
  }

  /** What is not given stays as it is. */
  async update(id: string, { preset, baseUrl, timeouts }: ProviderChanges): Promise<ProviderDetails> {
    const { row } = await this.#read(id);
    const moved = {
      kind: row.kind as ProviderKindName,
      preset: preset === undefined ? row.preset : preset,
      baseUrl: baseUrl ?? row.baseUrl,
    };
    const isMoving = preset !== undefined || baseUrl !== undefined;
    const settings = isMoving ? await this.#check(moved) : null;
    return this.#change(async (repositories) => {
      await findProviderRow(repositories, id);
      await repositories.providers.update(id, {
        ...(settings && { preset: settings.preset, baseUrl: settings.baseUrl }),
        ...(timeouts !== undefined && { timeouts }),
      });
      return findProviderRow(repositories, id);
    });
  }

  /** Throws `conflict` while there are models of it. */
  async delete(id: string): Promise<void> {
    const { database, changeFeed } = this.#options;
    try {
      await database.write(async (repositories) => {
        await findProviderRow(repositories, id);
        await repositories.providers.delete(id);
        await repositories.changes.append("catalogue", id, this.#now());
      });
    } catch (error) {
      if (!(error instanceof StillReferencedError)) throw error;
      const message = "There are models of this provider. Delete them first.";
      throw new GatewayError("conflict", message, { param: "id" });
    }
    await changeFeed.catchUp();
  }

  addCredential(credential: NewCredential): Promise<ProviderDetails> {
    return this.#change(async (repositories) => {
      const row = await findProviderRow(repositories, credential.providerId);
      checkConnection(row, credential.apiKey);
      await repositories.providers.insertCredential(this.#seal(credential));
      return row;
    });
  }

  /** Another share of the provider's requests; the key itself stays. */
  updateCredential(id: string, credentialId: string, weight: number): Promise<ProviderDetails> {
    return this.#change(async (repositories) => {
      const row = await findProviderRow(repositories, id);
      if (!(await repositories.providers.updateCredential(id, credentialId, { weight })))
        throw noCredential();
      return row;
    });
  }

  removeCredential(id: string, credentialId: string): Promise<ProviderDetails> {
    return this.#change(async (repositories) => {
      const row = await findProviderRow(repositories, id);
      if (!(await repositories.providers.deleteCredential(id, credentialId))) throw noCredential();
      return row;
    });
  }

  /** Calls the upstream for real, with each of the provider's credentials. */
  async test(id: string): Promise<ProviderTest> {
    const { row, credentials } = await this.#read(id);
    return testProvider(row, credentials, this.#options);
  }

  /** The upstream's models, to pick from, with what is known of them. Throws `upstream_error` when it cannot be asked. */
  async discoverModels(id: string): Promise<{ models: DiscoveredModel[] }> {
    const { row, credentials, models } = await this.#read(id);
    const { ok, message, models: names } = await askForModels(row, credentials, this.#options);
    if (!ok) throw new GatewayError("upstream_error", message, { param: "id" });
    return { models: await describeModels(names, row, models, this.#options.runtime.now()) };
  }

  /** The keys in the environment that providers could be made of. */
  async environmentKeys(): Promise<EnvironmentKey[]> {
    return this.#options.environmentKeys.describe(await this.list());
  }

  /** A provider for each of the variables, with its preset's name; all of them or none. */
  async importFromEnvironment(variables: string[]): Promise<ProviderDetails[]> {
    const made: NewProvider[] = [];
    for (const [index, variable] of variables.entries()) {
      const provider = this.#options.environmentKeys.toProvider(variable, `variables.${index}`);
      made.push({ ...provider, ...(await this.#check(provider)) });
    }
    return this.#changeAll(async (repositories) => {
      const taken = new Set((await repositories.providers.list()).map(({ name }) => name));
      const rows: ProviderRow[] = [];
      for (const [index, provider] of made.entries()) {
        if (taken.has(provider.name)) throw nameTaken(provider.name, `variables.${index}`);
        taken.add(provider.name);
        rows.push(await this.insert(repositories, provider));
      }
      return rows;
    });
  }

  async #check(provider: ProviderSettingsInput & { apiKey?: string | undefined }): Promise<CheckedSettings> {
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

  async #change(work: (repositories: Repositories) => Promise<ProviderRow>): Promise<ProviderDetails> {
    const [details] = await this.#changeAll(async (repositories) => [await work(repositories)]);
    if (details === undefined) throw new Error("One row was given, and must come back.");
    return details;
  }

  /** @param work gives the providers that it changed, as they are now. */
  async #changeAll(work: (repositories: Repositories) => Promise<ProviderRow[]>): Promise<ProviderDetails[]> {
    const { database, changeFeed } = this.#options;
    const changed = await database.write(async (repositories) => {
      const rows = await work(repositories);
      const [first] = rows;
      // One is enough: whoever hears of it reads the whole catalogue.
      if (first) await repositories.changes.append("catalogue", first.id, this.#now());
      const credentials = await repositories.providers.listCredentials();
      return rows.map((row) => toProviderDetails(row, credentials));
    });
    await changeFeed.catchUp();
    return changed;
  }

  #seal(credential: NewCredential): CredentialRow {
    return sealCredential(this.#options.secretBox, this.#options.runtime, credential);
  }

  #now(): Date {
    return new Date(this.#options.runtime.now());
  }
}

async function findProviderRow({ providers }: Repositories, id: string): Promise<ProviderRow> {
  const row = await providers.find(id);
  if (!row) throw new GatewayError("not_found", "There is no provider with this id.", { param: "id" });
  return row;
}

function nameTaken(name: string, param: string): GatewayError {
  return new GatewayError("conflict", `There is a provider ${name} already.`, { param });
}

function noCredential(): GatewayError {
  const message = "The provider has no credential with this id.";
  return new GatewayError("not_found", message, { param: "credentialId" });
}
