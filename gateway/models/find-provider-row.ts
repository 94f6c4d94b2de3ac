import type { Repositories } from "../../db/database.ts";
import type { ProviderRow } from "../../db/entities/provider.ts";
import { GatewayError } from "../errors.ts";

/** Throws `not_found` for an unknown provider. */
export async function findProviderRow({ providers }: Repositories, id: string): Promise<ProviderRow> {
  const row = await providers.find(id);
  if (!row)
    throw new GatewayError("not_found", "No provider has this ID. Reload the list of providers.", {
      param: "id",
    });
  return row;
}
