import { createHash } from "node:crypto";
import { isObject } from "../../wire/json.ts";
import { currentTools } from "./current-tools.ts";

/**
 * A tool's name as other upstreams take it: Anthropic allows 128 characters, most others 64, and names of MCP tools are
 * long. What is cut off is told apart by a hash. https://platform.openai.com/docs/api-reference/chat/create
 */
export function toFunctionName(name: string): string {
  if (name.length <= lengthMax) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashLength);
  return `${name.slice(0, lengthMax - hashLength - 1)}_${hash}`;
}

/** The client's names of those tools whose names had to be shortened. */
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
