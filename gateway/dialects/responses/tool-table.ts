import { createHash } from "node:crypto";
import { isObject } from "../../wire/json.ts";
import { expectArray, ifGiven } from "../../wire/parameter-errors.ts";
import { readTool, type ToolDefinition } from "./read-tool.ts";

export type NamedTool = ToolDefinition & { chatName: string };

/**
 * Maps between the client's tool names and flat names for chat completions, with the namespace as a prefix.
 * The constructor throws `invalid_type`, `invalid_value` or `unsupported_parameter` for invalid tools.
 */
export class ToolTable {
  readonly tools: readonly NamedTool[];
  /** The tools that the response repeats. */
  readonly shown: readonly object[];
  readonly #byChatName = new Map<string, NamedTool>();
  readonly #byName = new Map<string, NamedTool>();

  constructor(body: Record<string, unknown>) {
    const given = ifGiven(body["tools"], "tools", expectArray) ?? [];
    const read = given.map((tool, index) => readTool(tool, `tools[${index}]`));
    this.shown = read.flatMap(({ shown }) => (shown === null ? [] : [shown]));
    for (const { definitions } of [...read, ...readInputTools(body["input"])]) {
      for (const definition of definitions) this.#add(definition);
    }
    this.tools = [...this.#byName.values()];
  }

  /** Null for a name that the model invented. */
  find(chatName: string): NamedTool | null {
    return this.#byChatName.get(chatName) ?? null;
  }

  get(key: ToolKey): NamedTool | null {
    return this.#byName.get(keyOf(key)) ?? null;
  }

  /** Returns a tool's name in chat completions, even if the request no longer lists the tool. */
  chatNameOf(key: ToolKey): string {
    return this.get(key)?.chatName ?? flatten(key.namespace, key.name);
  }

  #add(definition: ToolDefinition): void {
    const key = keyOf(definition);
    if (this.#byName.has(key)) return;
    let chatName = flatten(definition.namespace, definition.name);
    for (let number = this.#byName.size; this.#byChatName.has(chatName); number++) {
      chatName = shorten(`${chatName}_${number}`);
    }
    const tool = { ...definition, chatName };
    this.#byName.set(key, tool);
    this.#byChatName.set(chatName, tool);
  }
}

/** Reads tools from input items: the results of tool searches, and tools that Codex sends as `additional_tools`. */
function readInputTools(input: unknown): ReturnType<typeof readTool>[] {
  const items: unknown[] = Array.isArray(input) ? input : [];
  return items.flatMap((item, index) => {
    if (!isObject(item)) return [];
    if (item["type"] !== "tool_search_output" && item["type"] !== "additional_tools") return [];
    const param = `input[${index}].tools`;
    return expectArray(item["tools"], param).map((tool, at) => readTool(tool, `${param}[${at}]`));
  });
}

type ToolKey = Pick<ToolDefinition, "kind" | "namespace" | "name">;

function keyOf({ kind, namespace, name }: ToolKey): string {
  return JSON.stringify([kind, namespace, name]);
}

/** Codex's namespaces of MCP servers already end in `__`. */
function flatten(namespace: string | null, name: string): string {
  const isPlain = namespace === null || namespace === "";
  const full = isPlain ? name : `${namespace}${namespace.endsWith("_") ? "" : "__"}${name}`;
  return shorten(full.replaceAll(/[^\w-]/g, "_"));
}

/** The result is deterministic, because a changed name would invalidate the prompt cache. */
function shorten(name: string): string {
  if (name.length <= chatNameLengthMax) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, chatNameLengthMax - digest.length - 1)}_${digest}`;
}

/** https://platform.openai.com/docs/api-reference/chat/create */
const chatNameLengthMax = 64;
