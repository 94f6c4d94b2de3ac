import { createHash } from "node:crypto";
import { isObject } from "../../wire/json.ts";
import { expectArray, ifGiven } from "../../wire/expect-type.ts";
import { readTool, type ToolDefinition } from "./read-tool.ts";

/** A tool with the name under which chat completions know it. */
export type NamedTool = ToolDefinition & { chatName: string };

/**
 * The tools of a request under two names: chat completions have no namespaces, and shorter names. Throws `invalid_type`,
 * `invalid_value` and `unsupported_parameter` for tools that cannot be.
 */
export class ToolTable {
  readonly tools: readonly NamedTool[];
  /** As an answer repeats them. */
  readonly shown: readonly object[];
  readonly #byChatName = new Map<string, NamedTool>();
  readonly #byName = new Map<string, NamedTool>();

  constructor(body: Record<string, unknown>) {
    const given = ifGiven(body["tools"], "tools", expectArray) ?? [];
    const read = given.map((tool, index) => readTool(tool, `tools[${index}]`));
    this.shown = read.flatMap(({ shown }) => (shown === null ? [] : [shown]));
    for (const { definitions } of [...read, ...readFoundTools(body["input"])]) {
      for (const definition of definitions) this.#add(definition);
    }
    this.tools = [...this.#byName.values()];
  }

  /** The tool that a model means by this name; null where there is none. */
  find(chatName: string): NamedTool | null {
    return this.#byChatName.get(chatName) ?? null;
  }

  /** The tool that the client calls so; null where there is none. */
  get(key: ToolKey): NamedTool | null {
    return this.#byName.get(keyOf(key)) ?? null;
  }

  /** What chat completions call a tool, also one that a conversation has called before it went away. */
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

/** Tools that the client has found when the model searched for some: from there on they can be called. */
function readFoundTools(input: unknown): ReturnType<typeof readTool>[] {
  const items: unknown[] = Array.isArray(input) ? input : [];
  return items.flatMap((item, index) => {
    if (!isObject(item) || item["type"] !== "tool_search_output") return [];
    const param = `input[${index}].tools`;
    return expectArray(item["tools"], param).map((tool, at) => readTool(tool, `${param}[${at}]`));
  });
}

type ToolKey = Pick<ToolDefinition, "kind" | "namespace" | "name">;

function keyOf({ kind, namespace, name }: ToolKey): string {
  return JSON.stringify([kind, namespace, name]);
}

/** Namespaces of MCP servers end in `_` already. */
function flatten(namespace: string | null, name: string): string {
  const isPlain = namespace === null || namespace === "";
  const full = isPlain ? name : `${namespace}${namespace.endsWith("_") ? "" : "__"}${name}`;
  return shorten(full.replaceAll(/[^\w-]/g, "_"));
}

/** The same for the same name in every turn of a conversation, or nothing of it would be found in a cache. */
function shorten(name: string): string {
  if (name.length <= chatNameLengthMax) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, chatNameLengthMax - digest.length - 1)}_${digest}`;
}

/** https://platform.openai.com/docs/api-reference/chat/create */
const chatNameLengthMax = 64;
