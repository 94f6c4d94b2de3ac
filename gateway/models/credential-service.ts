import {
  changeProvider,
  type ProviderChangeOptions,
  findProviderRow,
  type ProviderDetails,
} from "./provider-details.ts";
import type { Repositories } from "../../db/database.ts";
import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { AuditAction, AuditLog } from "../audit/audit-log.ts";
import type { Author } from "../auth/person.ts";
import { GatewayError } from "../errors.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { type NewCredential, sealCredential } from "../credentials/credential.ts";
import { type Impact, readImpact } from "./impact.ts";
import { checkConnection } from "./provider-settings.ts";

type CredentialServiceOptions = ProviderChangeOptions & { secretBox: SecretBox; audit: AuditLog };

/** Every change to a credential increases its provider's revision. */
export class CredentialService {
  readonly #options: CredentialServiceOptions;

  constructor(options: CredentialServiceOptions) {
    this.#options = options;
  }

  add(author: Author, credential: NewCredential): Promise<ProviderDetails> {
    const { providerId, apiKey } = credential;
    return this.#change(author, providerId, "provider.addCredential", async ({ providers }, provider) => {
      checkConnection(provider, apiKey);
      const row = sealCredential(this.#options.secretBox, this.#options.runtime, credential);
      await providers.insertCredential(row);
      return { credential: describe(row), weight: row.weight };
    });
  }

  update(author: Author, id: string, credentialId: string, weight: number): Promise<ProviderDetails> {
    return this.#change(author, id, "provider.updateCredential", async (repositories) => {
      const row = await findCredential(repositories, id, credentialId);
      await repositories.providers.updateCredential(id, credentialId, { weight });
      return { credential: describe(row), weight: { from: row.weight, to: weight } };
    });
  }

  remove(author: Author, id: string, credentialId: string): Promise<ProviderDetails> {
    return this.#change(author, id, "provider.removeCredential", async (repositories) => {
      const row = await findCredential(repositories, id, credentialId);
      await repositories.providers.deleteCredential(id, credentialId);
      return { credential: describe(row) };
    });
  }

  impact(id: string, credentialId: string): Promise<Impact & { remainingCredentialCount: number }> {
    return this.#options.database.read(async (repositories) => {
      await findProviderRow(repositories, id);
      await findCredential(repositories, id, credentialId);
      const credentials = await repositories.providers.listCredentials();
      const own = credentials.filter(({ providerId }) => providerId === id);
      const models = own.length > 1 ? [] : await repositories.models.list({ providerId: id });
      return { ...(await readImpact(repositories, models)), remainingCredentialCount: own.length - 1 };
    });
  }

  /** @param work returns the audit details */
  #change(
    author: Author,
    id: string,
    action: AuditAction,
    work: (repositories: Repositories, provider: ProviderRow) => Promise<Record<string, unknown>>,
  ): Promise<ProviderDetails> {
    return changeProvider(this.#options, async (repositories) => {
      const entity = await findProviderRow(repositories, id);
      await repositories.providers.nextRevision(id, undefined);
      const details = await work(repositories, entity);
      await this.#options.audit.record(repositories, author, action, entity, details);
      return findProviderRow(repositories, id);
    });
  }
}

async function findCredential(
  { providers }: Repositories,
  providerId: string,
  id: string,
): Promise<CredentialRow> {
  const row = await providers.findCredential(providerId, id);
  if (row) return row;
  const message = "The provider has no credential with this ID. Reload the provider.";
  throw new GatewayError("not_found", message, { param: "credentialId" });
}

function describe({ id, lastFour }: CredentialRow): { id: string; lastFour: string } {
  return { id, lastFour };
}
