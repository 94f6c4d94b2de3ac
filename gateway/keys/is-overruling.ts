import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import type { Person } from "../auth/person.ts";

/** Whether the author decides as an administrator, rather than about a key of their own. */
export function isOverruling(author: Person, { ownerId }: Pick<ApiKeyRow, "ownerId">): boolean {
  return author.role === "admin" && author.id !== ownerId;
}
