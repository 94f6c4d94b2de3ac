import type { Repositories } from "../../db/database.ts";
import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import { listSome } from "../audit/list-some.ts";
import type { Person } from "../auth/person.ts";
import { GatewayError } from "../errors.ts";
import { isOverruling } from "./is-overruling.ts";
import { modelIds } from "./model-ids.ts";

/**
 * Connects a key with these models and no others; returns the details for the audit log. A model that an administrator
 * takes away from somebody else's key is withheld until an administrator connects it again. Throws `forbidden` where a
 * member would connect one that is withheld.
 */
export async function editModels(
  repositories: Repositories,
  author: Person,
  { key, models, withheldModels }: ApiKeyDetails,
  slugs: string[],
): Promise<Record<string, unknown>> {
  const ids = await modelIds(repositories, slugs);
  const [before, after] = [new Set(models.map(({ slug }) => slug)), new Set(slugs)];
  const added = [...after].filter((slug) => !before.has(slug));
  const removed = [...before].filter((slug) => !after.has(slug));
  if (author.role === "admin") {
    await repositories.withheldModels.remove(key.id, [...slugs, ...removed]);
    if (isOverruling(author, key)) await repositories.withheldModels.add(key.id, removed);
  } else {
    checkNotWithheld(added, withheldModels);
  }
  await repositories.apiKeys.setModels(key.id, ids);
  return { added: listSome(added), removed: listSome(removed) };
}

function checkNotWithheld(added: string[], withheldModels: string[]): void {
  const allWithheld = new Set(withheldModels);
  const withheld = added.filter((slug) => allWithheld.has(slug));
  if (withheld.length === 0) return;
  const them = withheld.length === 1 ? "it" : "them";
  const message = `An administrator removed ${withheld.join(", ")} from this key. Ask an administrator to connect ${them} again.`;
  throw new GatewayError("forbidden", message, { param: "models" });
}
