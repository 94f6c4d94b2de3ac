import { isObject } from "../wire/json.ts";

export type DroppedMembers = {
  members: readonly string[];
  isToolDropped(tool: Record<string, unknown>): boolean;
};

/** The names of dropped parts for `x-gateway-dropped`, such as `context_management` and `tools.web_search`. */
export function listDropped(body: Record<string, unknown>, dropped: DroppedMembers): string | null {
  const { tools } = body;
  const members = dropped.members.filter((name) => !isDefault(body[name]));
  const types = (Array.isArray(tools) ? tools : [])
    .filter((tool): tool is Record<string, unknown> => isObject(tool) && dropped.isToolDropped(tool))
    .map(({ type }) => (typeof type === "string" && /^[\w.-]{1,64}$/.test(type) ? `tools.${type}` : "tools"));
  return join([...new Set([...members, ...types])]);
}

/** Translations never truncate, so dropping `truncation: "disabled"` has no effect. */
function isDefault(value: unknown): boolean {
  return value === undefined || value === null || value === "disabled";
}

/** The usage record stores at most 255 characters. */
function join(names: string[]): string | null {
  let length = 0;
  return names.filter((name) => (length += name.length + 2) <= 255).join(", ") || null;
}
