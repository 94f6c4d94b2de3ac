import type { EntityManager } from "typeorm";
import { Credential, type CredentialRow, Provider, type ProviderRow } from "../entities/provider.ts";

export class ProviderRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** By name. */
  list(): Promise<ProviderRow[]> {
    return this.#manager.find(Provider, { order: { name: "ASC" } });
  }

  find(id: string): Promise<ProviderRow | null> {
    return this.#manager.findOneBy(Provider, { id });
  }

  async insert(provider: ProviderRow): Promise<void> {
    await this.#manager.insert(Provider, provider);
  }

  async update(
    id: string,
    changes: Partial<Pick<ProviderRow, "preset" | "baseUrl" | "timeouts">>,
  ): Promise<void> {
    if (Object.keys(changes).length > 0) await this.#manager.update(Provider, { id }, changes);
  }

  /** Fails with a `StillReferencedError` while models use it. */
  async delete(id: string): Promise<void> {
    await this.#manager.delete(Provider, { id });
  }

  /** Oldest first. */
  listCredentials(): Promise<CredentialRow[]> {
    return this.#manager.find(Credential, { order: { id: "ASC" } });
  }

  async insertCredential(credential: CredentialRow): Promise<void> {
    await this.#manager.insert(Credential, credential);
  }

  /** Returns whether there is one. */
  async updateCredential(
    providerId: string,
    id: string,
    changes: Pick<CredentialRow, "weight">,
  ): Promise<boolean> {
    // Not the count of rows: MySQL leaves out those that were so already.
    if (!(await this.#manager.existsBy(Credential, { id, providerId }))) return false;
    await this.#manager.update(Credential, { id, providerId }, changes);
    return true;
  }

  /** Returns whether there was one. */
  async deleteCredential(providerId: string, id: string): Promise<boolean> {
    const { affected } = await this.#manager.delete(Credential, { id, providerId });
    return affected !== 0;
  }
}
