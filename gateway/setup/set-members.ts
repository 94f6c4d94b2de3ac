import type { Json, JsonOperation } from "./setup-plan.ts";

/**
 * Sets the members of the object at `path` one by one, so that other members survive. Null removes a member.
 */
export function setMembers(path: string[], members: Record<string, Json>): JsonOperation[] {
  return Object.entries(members).map(([name, value]) =>
    value === null ? { do: "remove", path: [...path, name] } : { do: "set", path: [...path, name], value },
  );
}
