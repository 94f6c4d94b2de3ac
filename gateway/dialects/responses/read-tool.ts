import { isObject } from "../../wire/json.ts";
import {
  invalidValue,
  expectArray,
  expectBoolean,
  expectObject,
  expectString,
  ifGiven,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import { type BuiltInType, builtInTools, builtInTypes } from "./built-in-tools.ts";

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
        parameters: {
          type: "object",
          properties: { input },
          required: ["input"],
          additionalProperties: false,
        },
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
