import { isObject, listOf } from "../../wire/json.ts";
import { createHash } from "node:crypto";

/**
 * Returns the request's tools after the changes that its system messages make. The tools are not validated yet.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export function currentTools(body: Record<string, unknown>): CurrentTool[] {
  const tools = listOf(body["tools"]).map((tool, index): CurrentTool => ({ tool, param: `tools[${index}]` }));
  /** The position of each name's last `tool_definition`, which replaces earlier definitions. */
  const definedAt = new Map<unknown, number>();
  const withdrawn = new Set<unknown>();
  for (const { type, tool, param } of findChanges(body["messages"])) {
    const { type: kind, definition } = tool;
    const isDefined = kind === "tool_definition";
    if (!isDefined && kind !== "tool_reference") continue;
    const name = isDefined ? nameOf(definition) : tool["name"];
    if (type === "tool_removal") withdrawn.add(name);
    else withdrawn.delete(name);
    if (isDefined) {
      definedAt.set(name, tools.length);
      tools.push({ tool: definition, param: `${param}.definition` });
    }
  }
  return tools.filter(({ tool }, index) => {
    const name = nameOf(tool);
    return index >= (definedAt.get(name) ?? 0) && !withdrawn.has(name);
  });
}

export type CurrentTool = { tool: unknown; param: string };

type Change = { type: unknown; tool: Record<string, unknown>; param: string };

function findChanges(messages: unknown): Change[] {
  return listOf(messages).flatMap((message, index) =>
    isObject(message) && message["role"] === "system"
      ? listOf(message["content"]).flatMap((block, position): Change[] => {
          const { type, tool } = isObject(block) ? block : {};
          if ((type !== "tool_addition" && type !== "tool_removal") || !isObject(tool)) return [];
          return [{ type, tool, param: `messages[${index}].content[${position}].tool` }];
        })
      : [],
  );
}

function nameOf(tool: unknown): unknown {
  return isObject(tool) ? tool["name"] : undefined;
}

/**
 * Shortens a tool's name, because Anthropic allows 128 characters and most other providers 64. A hash keeps shortened
 * names distinct. https://platform.openai.com/docs/api-reference/chat/create
 */
export function toFunctionName(name: string): string {
  if (name.length <= lengthMax) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashLength);
  return `${name.slice(0, lengthMax - hashLength - 1)}_${hash}`;
}

/** Maps shortened tool names to the client's names. */
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

/**
 * Converts a tool call's ID reversibly to characters that Anthropic accepts, because the conversation may
 * continue with Claude. Kimi, for example, sends `functions.read:0`.
 * @param fallback used if the upstream sent no ID
 */
export function toToolUseId(id: unknown, fallback: string): string {
  if (typeof id !== "string" || id === "") return fallback;
  return /^[\w-]+$/.test(id) && !id.startsWith(prefix)
    ? id
    : `${prefix}${Buffer.from(id).toString("base64url")}`;
}

export function fromToolUseId(id: string): string {
  return id.startsWith(prefix) ? Buffer.from(id.slice(prefix.length), "base64url").toString("utf8") : id;
}

const prefix = "toolu_gateway_";
