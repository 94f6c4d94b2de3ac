import type { EntityManager } from "typeorm";
import { Credential, type CredentialRow, Provider, type ProviderRow } from "../entities/provider.ts";

export class ProviderRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** Lists providers by name. */
  list(): Promise<ProviderRow[]> {
    return this.#manager.find(Provider, { order: { name: "ASC" } });
  }

  find(id: string): Promise<ProviderRow | null> {
    return this.#manager.findOneBy(Provider, { id });
  }

  async insert(provider: ProviderRow): Promise<void> {
    await this.#manager.insert(Provider, provider);
  }

  /** Increases the revision, which locks the row. Returns false if the row is missing or `revision` is outdated. */
  async nextRevision(id: string, revision: number | undefined): Promise<boolean> {
    const where = revision === undefined ? { id } : { id, revision };
    const { affected } = await this.#manager.update(Provider, where, { revision: () => "revision + 1" });
    return affected !== 0;
  }

  async update(
    id: string,
    changes: Partial<Pick<ProviderRow, "preset" | "baseUrl" | "timeouts">>,
  ): Promise<void> {
    if (Object.keys(changes).length > 0) await this.#manager.update(Provider, { id }, changes);
  }

  /** The write throws a `StillReferencedError` while the provider has models. */
  async delete(id: string): Promise<void> {
    await this.#manager.delete(Provider, { id });
  }

  /** Lists the oldest credentials first. */
  listCredentials(): Promise<CredentialRow[]> {
    return this.#manager.find(Credential, { order: { id: "ASC" } });
  }

  async insertCredential(credential: CredentialRow): Promise<void> {
    await this.#manager.insert(Credential, credential);
  }

  async updateCredential(
    providerId: string,
    id: string,
    changes: Pick<CredentialRow, "weight">,
  ): Promise<void> {
    await this.#manager.update(Credential, { id, providerId }, changes);
  }

  /** Replaces a credential's envelope. Returns false if the stored envelope is no longer `sealed`. */
  async resealCredential({ id, sealed }: CredentialRow, resealed: string): Promise<boolean> {
    const { affected } = await this.#manager.update(Credential, { id, sealed }, { sealed: resealed });
    return affected !== 0;
  }

  findCredential(providerId: string, id: string): Promise<CredentialRow | null> {
    return this.#manager.findOneBy(Credential, { id, providerId });
  }

  async deleteCredential(providerId: string, id: string): Promise<void> {
    await this.#manager.delete(Credential, { id, providerId });
  }
}
