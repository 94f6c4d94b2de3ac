import type { Repositories } from "../../db/database.ts";
import { GatewayError } from "../errors.ts";

/** Throws `invalid_value` for somebody who is not there. */
export async function checkOwner({ users }: Repositories, ownerId: string | undefined): Promise<void> {
  if (ownerId === undefined || (await users.find(ownerId))) return;
  throw new GatewayError("invalid_value", "There is no person with this id.", { param: "ownerId" });
}
