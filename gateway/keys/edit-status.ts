import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import type { Person } from "../auth/person.ts";
import { GatewayError } from "../errors.ts";
import { isOverruling } from "./is-overruling.ts";

type StatusColumns = Pick<ApiKeyRow, "status" | "disabledBy">;

/** A key's status and who decided it. Throws `forbidden` where a member would activate what an administrator deactivated. */
export function editStatus(
  author: Person,
  before: StatusColumns & Pick<ApiKeyRow, "ownerId">,
  status: ApiKeyRow["status"],
): StatusColumns {
  const isDecided = before.status === "disabled" && before.disabledBy === "admin";
  if (status === "disabled") {
    return { status, disabledBy: isDecided || isOverruling(author, before) ? "admin" : "owner" };
  }
  if (isDecided && author.role !== "admin") {
    const message = "An administrator deactivated this key. Ask an administrator to activate it.";
    throw new GatewayError("forbidden", message);
  }
  return { status, disabledBy: null };
}
