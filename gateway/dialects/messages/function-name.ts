import { createHash } from "node:crypto";
import { isObject } from "../../wire/json.ts";
import { currentTools } from "./current-tools.ts";

/**
 * Shortens a tool's name. Anthropic allows 128 characters, most others 64, and MCP tools have long names. A hash keeps
 * shortened names distinct. https://platform.openai.com/docs/api-reference/chat/create
 */
export function toFunctionName(name: string): string {
  if (name.length <= lengthMax) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashLength);
  return `${name.slice(0, lengthMax - hashLength - 1)}_${hash}`;
}

/** The client's names of tools with shortened names. */
export function shortenedNames(body: Record<string, unknown>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { tool } of currentTools(body)) {
    const name = isObject(tool) ? tool["name"] : null;
    if (typeof name === "string" && name.length > lengthMax) names.set(toFunctionName(name), name);
  }
  return names;
}

const lengthMax = 64;
const hashLength = 8;
