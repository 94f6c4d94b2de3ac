import { isObject } from "../wire/json.ts";

/** The parts of a request that a translation drops: ignored members, and types of omitted tools. */
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

/** `truncation: "disabled"` describes the behaviour of every translation, so it is not reported. */
function isDefault(value: unknown): boolean {
  return value === undefined || value === null || value === "disabled";
}

/** The usage record stores at most 255 characters. */
function join(names: string[]): string | null {
  let length = 0;
  return names.filter((name) => (length += name.length + 2) <= 255).join(", ") || null;
}
