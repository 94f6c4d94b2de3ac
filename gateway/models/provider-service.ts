import type { Database, Repositories } from "../../db/database.ts";
import { DuplicateError, StillReferencedError } from "../../db/database-errors.ts";
import type { CredentialRow, ProviderRow, UpstreamTimeoutOverrides } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { ChangeFeed } from "../keys/change-feed.ts";
import { findProvider, type ProviderKindName, providerKinds } from "../providers/registry.ts";
import type { Runtime } from "../runtime.ts";
import type { AddressGuard } from "../upstream/address-guard.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { checkBaseUrl } from "./check-base-url.ts";
import { openCredential, sealCredential } from "./credential.ts";
import { type ProviderVerdict, probeProvider } from "./probe-provider.ts";

/** A provider as people see it. Of a credential no more than the last four characters is ever told. */
export type ProviderDetails = {
  id: string;
  name: string;
  kind: string;
  baseUrl: string | null;
  timeouts: UpstreamTimeoutOverrides;
  credentials: { id: string; lastFour: string; createdAt: Date }[];
  createdAt: Date;
};

export type NewProvider = {
  name: string;
  kind: ProviderKindName;
  baseUrl?: string | null | undefined;
  apiKey?: string | undefined;
  timeouts?: UpstreamTimeoutOverrides | undefined;
};

export type ProviderChanges = Pick<NewProvider, "baseUrl" | "timeouts">;

type ProviderServiceOptions = {
  database: Database;
  runtime: Runtime;
  changeFeed: ChangeFeed;
  secretBox: SecretBox;
  guard: AddressGuard;
  upstreams: Upstreams;
};

/** The providers and our credentials for them. A provider's name is part of its models' slugs and never changes. */
export class ProviderService {
  readonly #database: Database;
  readonly #runtime: Runtime;
  readonly #changeFeed: ChangeFeed;
  readonly #secretBox: SecretBox;
  readonly #guard: AddressGuard;
  readonly #upstreams: Upstreams;

  constructor({ database, runtime, changeFeed, secretBox, guard, upstreams }: ProviderServiceOptions) {
    this.#database = database;
    this.#runtime = runtime;
    this.#changeFeed = changeFeed;
    this.#secretBox = secretBox;
    this.#guard = guard;
    this.#upstreams = upstreams;
  }

  /** By name. */
  async list(): Promise<ProviderDetails[]> {
    return this.#database.read(async ({ providers }) => {
      const credentials = await providers.listCredentials();
      return (await providers.list()).map((row) => toDetails(row, credentials));
    });
  }

  async create(provider: NewProvider): Promise<ProviderDetails> {
    const baseUrl = await this.#baseUrlFor(provider.kind, provider.baseUrl);
    try {
      return await this.#change(
        async (repositories) => (await this.insert(repositories, { ...provider, baseUrl })).id,
      );
    } catch (error) {
      if (!(error instanceof DuplicateError)) throw error;
      throw new GatewayError("conflict", `There is a provider ${provider.name} already.`, { param: "name" });
    }
  }

  /** `create` as part of a larger transaction, which has to append to the change feed itself. */
  async insert({ providers }: Repositories, provider: NewProvider): Promise<ProviderRow> {
    const { name, kind, baseUrl = null, timeouts = {} } = provider;
    const createdAt = new Date(this.#runtime.now());
    const row: ProviderRow = { id: createId("prv", this.#runtime), name, kind, baseUrl, timeouts, createdAt };
    await providers.insert(row);
    if (provider.apiKey !== undefined)
      await providers.insertCredential(
        sealCredential(this.#secretBox, this.#runtime, row.id, provider.apiKey),
      );
    return row;
  }

  /** What is not given stays as it is. */
  async update(id: string, changes: ProviderChanges): Promise<ProviderDetails> {
    const { kind } = await this.#database.read((repositories) => findProviderRow(repositories, id));
    const isMoving = changes.baseUrl !== undefined;
    const baseUrl = isMoving ? await this.#baseUrlFor(kind as ProviderKindName, changes.baseUrl) : undefined;
    return this.#change(async (repositories) => {
      await findProviderRow(repositories, id);
      await repositories.providers.update(id, {
        ...(baseUrl !== undefined && { baseUrl }),
        ...(changes.timeouts !== undefined && { timeouts: changes.timeouts }),
      });
      return id;
    });
  }

  /** Throws `conflict` while there are models of it. */
  async delete(id: string): Promise<void> {
    try {
      await this.#database.write(async (repositories) => {
        await findProviderRow(repositories, id);
        await repositories.providers.delete(id);
        await repositories.changes.append("catalogue", id, new Date(this.#runtime.now()));
      });
    } catch (error) {
      if (!(error instanceof StillReferencedError)) throw error;
      throw new GatewayError("conflict", "There are models of this provider. Delete them first.", {
        param: "id",
      });
    }
    await this.#changeFeed.catchUp();
  }

  addCredential(id: string, apiKey: string): Promise<ProviderDetails> {
    return this.#change(async (repositories) => {
      await findProviderRow(repositories, id);
      await repositories.providers.insertCredential(
        sealCredential(this.#secretBox, this.#runtime, id, apiKey),
      );
      return id;
    });
  }

  removeCredential(id: string, credentialId: string): Promise<ProviderDetails> {
    return this.#change(async (repositories) => {
      await findProviderRow(repositories, id);
      if (await repositories.providers.deleteCredential(id, credentialId)) return id;
      throw new GatewayError("not_found", "The provider has no credential with this id.", {
        param: "credentialId",
      });
    });
  }

  /** Calls the upstream for real, with the credential that requests would use. */
  async test(id: string): Promise<Omit<ProviderVerdict, "models"> & { modelCount: number }> {
    const { models, ...verdict } = await this.#probe(id);
    return { ...verdict, modelCount: models.length };
  }

  /** The names of the upstream's models, to pick from. Throws `upstream_error` when it cannot be asked. */
  async discoverModels(id: string): Promise<{ models: string[] }> {
    const { ok, message, models } = await this.#probe(id);
    if (!ok) throw new GatewayError("upstream_error", message, { param: "id" });
    return { models: models.toSorted() };
  }

  async #probe(id: string): Promise<ProviderVerdict> {
    const { row, credential } = await this.#database.read(async (repositories) => ({
      row: await findProviderRow(repositories, id),
      credential: (await repositories.providers.listCredentials()).find(
        ({ providerId }) => providerId === id,
      ),
    }));
    const provider = findProvider(row.kind);
    const secret = credential ? openCredential(this.#secretBox, credential) : null;
    return probeProvider(provider, { baseUrl: row.baseUrl ?? "", secret }, this.#upstreams);
  }

  async #change(work: (repositories: Repositories) => Promise<string>): Promise<ProviderDetails> {
    const details = await this.#database.write(async (repositories) => {
      const id = await work(repositories);
      await repositories.changes.append("catalogue", id, new Date(this.#runtime.now()));
      return toDetails(
        await findProviderRow(repositories, id),
        await repositories.providers.listCredentials(),
      );
    });
    await this.#changeFeed.catchUp();
    return details;
  }

  async #baseUrlFor(kind: ProviderKindName, baseUrl: string | null | undefined): Promise<string | null> {
    if (providerKinds[kind].reach === "network") return checkBaseUrl(baseUrl ?? null, this.#guard);
    if (baseUrl === undefined || baseUrl === null) return null;
    throw new GatewayError("invalid_value", `A provider of the kind ${kind} has no base URL.`, {
      param: "baseUrl",
    });
  }
}

async function findProviderRow({ providers }: Repositories, id: string): Promise<ProviderRow> {
  const row = await providers.find(id);
  if (!row) throw new GatewayError("not_found", "There is no provider with this id.", { param: "id" });
  return row;
}

function toDetails(row: ProviderRow, credentials: CredentialRow[]): ProviderDetails {
  const { id, name, kind, baseUrl, timeouts, createdAt } = row;
  const own = credentials.filter((credential) => credential.providerId === id);
  return {
    id,
    name,
    kind,
    baseUrl,
    timeouts,
    credentials: own.map((credential) => ({
      id: credential.id,
      lastFour: credential.lastFour,
      createdAt: credential.createdAt,
    })),
    createdAt,
  };
}
