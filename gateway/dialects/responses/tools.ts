import { toFunctionName } from "../dialect.ts";
import { isObject, listOf } from "../../wire/json.ts";
import {
  expectArray,
  ifGiven,
  invalidValue,
  expectBoolean,
  expectObject,
  expectString,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import { type BuiltInType, builtInTools, builtInTypes, objectSchema } from "./built-in-tools.ts";

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
      chatName = toFunctionName(`${chatName}_${number}`);
    }
    const tool = { ...definition, chatName };
    this.#byName.set(key, tool);
    this.#byChatName.set(chatName, tool);
  }
}

/** Reads tools from input items: the results of tool searches, and tools that Codex sends as `additional_tools`. */
function readInputTools(input: unknown): ReturnType<typeof readTool>[] {
  return listOf(input).flatMap((item, index) => {
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
  return toFunctionName(full.replaceAll(/[^\w-]/g, "_"));
}

/** A tool that the client runs, as a function definition for the model. */
export type ToolDefinition = {
  /** The tool's type, which determines the type of its call items. */
  kind: "function" | "custom" | BuiltInType;
  namespace: string | null;
  name: string;
  description: string | undefined;
  parameters: Record<string, unknown> | undefined;
  strict: boolean | undefined;
};

export type ReadTool = {
  /** The tool as the response repeats it. Null for an omitted tool. */
  shown: Record<string, unknown> | null;
  definitions: ToolDefinition[];
};

/**
 * Omits tools that OpenAI runs itself, such as web search, because Codex sends them by default.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export function readTool(value: unknown, param: string): ReadTool {
  const tool = expectObject(value, param);
  const type = expectString(tool["type"], `${param}.type`);
  if (type === "function" || type === "custom") return readCallable(tool, type, param, null);
  if (type === "namespace") return readNamespace(tool, param);
  const builtIn = builtInTypes.find((each) => each === type);
  return builtIn === undefined || isToolOmitted(tool)
    ? { shown: null, definitions: [] }
    : readBuiltIn(tool, builtIn, param);
}

export function isToolOmitted(tool: Record<string, unknown>): boolean {
  const { type } = tool;
  if (type === "function" || type === "custom" || type === "namespace") return false;
  const builtIn = builtInTypes.find((each) => each === type);
  return builtIn === undefined || isRunByOpenAi(builtIn, tool);
}

function readCallable(
  tool: Record<string, unknown>,
  type: "function" | "custom",
  param: string,
  namespace: string | null,
): ReadTool {
  const name = readName(tool["name"], `${param}.name`);
  const description = ifGiven(tool["description"], `${param}.description`, expectString);
  if (type === "custom") return readCustom(tool, { name, description, namespace }, param);
  const parameters = ifGiven(tool["parameters"], `${param}.parameters`, expectObject);
  const strict = ifGiven(tool["strict"], `${param}.strict`, expectBoolean);
  return {
    shown: {
      type,
      name,
      description: description ?? null,
      parameters: parameters ?? null,
      strict: strict ?? null,
    },
    definitions: [{ kind: type, namespace, name, description, parameters, strict }],
  };
}

type Naming = Pick<ToolDefinition, "name" | "description" | "namespace">;

/** Converts a custom tool to a function whose only argument is the tool's text input. */
function readCustom(
  tool: Record<string, unknown>,
  { name, description, namespace }: Naming,
  param: string,
): ReadTool {
  const format = readFormat(tool["format"], `${param}.format`);
  const rule =
    format["type"] === "grammar"
      ? ` It matches this ${format["syntax"]} grammar:\n${format["definition"]}`
      : "";
  const input = {
    type: "string",
    description: `The tool's input: plain text, not JSON.${rule}`,
  };
  return {
    shown: { type: "custom", name, ...(description !== undefined && { description }), format },
    definitions: [
      {
        kind: "custom",
        namespace,
        name,
        description,
        parameters: objectSchema({ input }, ["input"]),
        strict: undefined,
      },
    ],
  };
}

function readFormat(value: unknown, param: string): Record<string, unknown> {
  const format = ifGiven(value, param, expectObject) ?? { type: "text" };
  const type = expectString(format["type"], `${param}.type`);
  if (type === "text") return { type };
  if (type !== "grammar")
    throw unsupportedValue(
      `${param}.type`,
      "a custom tool accepts only two formats. Use text or grammar.",
      type,
    );
  const syntax = expectString(format["syntax"], `${param}.syntax`);
  if (syntax !== "lark" && syntax !== "regex")
    throw invalidValue(`${param}.syntax`, "must be lark or regex", syntax);
  return { type, syntax, definition: expectString(format["definition"], `${param}.definition`) };
}

/** Adds the namespace's description to the first tool only, because the description can be many kilobytes. */
function readNamespace(tool: Record<string, unknown>, param: string): ReadTool {
  const namespace = expectString(tool["name"], `${param}.name`);
  // The name is limited, because every tool of the namespace repeats it.
  if (namespace === "" || namespace.length > namespaceLengthMax) {
    throw invalidValue(`${param}.name`, `must have between 1 and ${namespaceLengthMax} characters`);
  }
  const about = ifGiven(tool["description"], `${param}.description`, expectString) ?? "";
  const members = expectArray(tool["tools"], `${param}.tools`).map((value, index) => {
    const at = `${param}.tools[${index}]`;
    const member = expectObject(value, at);
    const { type } = member;
    if (type === "function" || type === "custom") return readCallable(member, type, at, namespace);
    throw unsupportedValue(
      `${at}.type`,
      "a namespace can contain only tools of type function or custom. Remove the tool.",
      type,
    );
  });
  const definitions = members.flatMap((member) => member.definitions);
  const [first] = definitions;
  if (first && about !== "") first.description = [about, first.description].filter(Boolean).join("\n\n");
  const tools = members.map((member) => member.shown);
  return {
    shown: first ? { type: "namespace", name: namespace, description: about, tools } : null,
    definitions,
  };
}

function readBuiltIn(tool: Record<string, unknown>, type: BuiltInType, param: string): ReadTool {
  const builtIn = builtInTools[type];
  const definition = { kind: type, namespace: null, name: type, strict: undefined } as const;
  if (type !== "tool_search") {
    const { description, parameters } = builtIn;
    const shown = type === "shell" ? { type, environment: { type: "local" } } : { type };
    return { shown, definitions: [{ ...definition, description, parameters }] };
  }
  const description =
    ifGiven(tool["description"], `${param}.description`, expectString) ?? builtIn.description;
  const parameters = ifGiven(tool["parameters"], `${param}.parameters`, expectObject) ?? builtIn.parameters;
  return {
    shown: { type, execution: "client", description, parameters },
    definitions: [{ ...definition, description, parameters }],
  };
}

function isRunByOpenAi(type: BuiltInType, { execution, environment }: Record<string, unknown>): boolean {
  if (type === "tool_search") return execution !== "client";
  return type === "shell" && isObject(environment) && environment["type"] !== "local";
}

const namespaceLengthMax = 1_024;

function readName(value: unknown, param: string): string {
  const name = expectString(value, param);
  if (!/^[\w-]{1,128}$/.test(name))
    throw invalidValue(param, "must have between 1 and 128 letters, digits, _ and -");
  return name;
}
