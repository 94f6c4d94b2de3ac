import type { Database, Repositories } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { ModelReference } from "../../db/repositories/model-repository.ts";
import { GatewayError } from "../errors.ts";
import { findModel } from "./model-rows.ts";
import { findProviderRow } from "./provider-details.ts";
import { readFallbacks } from "./model-details.ts";

/** The models and keys that a deletion would affect. */
export type Impact = {
  models: { id: string; slug: string; keyCount: number }[];
  /** The number of keys that can use any of the models, including disabled keys. */
  keyCount: number;
  activeKeyCount: number;
  /** The newest affected keys, at most 20. */
  keys: { id: string; name: string; status: "active" | "disabled" }[];
  /** The slugs of other models that have one of the models as a fallback. */
  fallbackOf: string[];
};

export function readProviderImpact(database: Database, id: string): Promise<Impact> {
  return database.read(async (repositories) => {
    await findProviderRow(repositories, id);
    return readImpact(repositories, await repositories.models.list({ providerId: id }));
  });
}

export function readModelImpact(database: Database, reference: ModelReference): Promise<Impact> {
  return database.read(async (repositories) =>
    readImpact(repositories, [await findModel(repositories, reference)]),
  );
}

export function readCredentialImpact(
  database: Database,
  id: string,
  credentialId: string,
): Promise<Impact & { remainingCredentialCount: number }> {
  return database.read(async (repositories) => {
    await findProviderRow(repositories, id);
    const all = await repositories.providers.listCredentials();
    const own = all.filter(({ providerId }) => providerId === id);
    const remaining = own.filter((credential) => credential.id !== credentialId);
    if (remaining.length === own.length) throw noCredential();
    const models = remaining.length > 0 ? [] : await repositories.models.list({ providerId: id });
    return {
      ...(await readImpact(repositories, models)),
      remainingCredentialCount: remaining.length,
    };
  });
}

export function noCredential(): GatewayError {
  const message = "The provider has no credential with this ID. Reload the provider.";
  return new GatewayError("not_found", message, { param: "credentialId" });
}

const keysMax = 20;

async function readImpact(repositories: Repositories, rows: ModelRow[]): Promise<Impact> {
  const keyCounts = await repositories.apiKeys.countByModel("everyone");
  const keys = await repositories.apiKeys.connectedTo(rows.map(({ id }) => id));
  const fallbacksOf = await readFallbacks(repositories);
  const slugs = new Set(rows.map(({ slug }) => slug));
  const others = (await repositories.models.list()).filter(({ slug }) => !slugs.has(slug));
  return {
    models: rows.map(({ id, slug }) => ({ id, slug, keyCount: keyCounts.get(id) ?? 0 })),
    keyCount: keys.length,
    activeKeyCount: keys.filter(({ status }) => status === "active").length,
    keys: keys.slice(0, keysMax).map(({ id, name, status }) => ({ id, name, status })),
    fallbackOf: others
      .filter((model) => fallbacksOf(model).some((slug) => slugs.has(slug)))
      .map(({ slug }) => slug),
  };
}
