import {
  invalidValue,
  expectArray,
  expectBoolean,
  expectObject,
  expectString,
  ifGiven,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import { builtInTypes } from "./built-in-tools.ts";
import type { ToolDefinition } from "./read-tool.ts";
import type { NamedTool, ToolTable } from "./tool-table.ts";

/** The tool members of a chat completion request. Empty for a request without tools. */
export function toChatTools(
  body: Record<string, unknown>,
  table: ToolTable,
): { tools?: object[]; tool_choice?: unknown; parallel_tool_calls?: boolean } {
  const { tools, choice } = toToolChoice(body["tool_choice"], table);
  if (tools.length === 0) return {};
  const isParallel = ifGiven(body["parallel_tool_calls"], "parallel_tool_calls", expectBoolean);
  return {
    tools: tools.map(toChatTool),
    ...(choice !== null && { tool_choice: choice }),
    ...(isParallel !== undefined && { parallel_tool_calls: isParallel }),
  };
}

function toChatTool({ chatName, description, parameters, strict }: NamedTool): object {
  return { type: "function", function: { name: chatName, description, parameters, strict } };
}

type Chosen = { tools: readonly NamedTool[]; choice: string | object | null };

function toToolChoice(value: unknown, table: ToolTable): Chosen {
  const { tools } = table;
  if (value === undefined || value === null) return { tools, choice: null };
  if (typeof value === "string") return { tools, choice: toMode(value, "tool_choice", tools) };
  const choice = expectObject(value, "tool_choice");
  const type = expectString(choice["type"], "tool_choice.type");
  // Only the allowed tools are sent, because few upstreams support `allowed_tools` in chat completions.
  if (type === "allowed_tools") {
    const allowed = readAllowed(choice["tools"], table);
    const mode = ifGiven(choice["mode"], "tool_choice.mode", expectString) ?? "auto";
    return { tools: allowed, choice: toMode(mode, "tool_choice.mode", allowed) };
  }
  const tool = findTool(choice, "tool_choice", table);
  if (tool === undefined)
    throw unsupportedValue("tool_choice", "only OpenAI runs this tool. Choose another tool.", type);
  return { tools, choice: { type: "function", function: { name: tool.chatName } } };
}

function toMode(mode: string, param: string, tools: readonly NamedTool[]): string {
  if (mode !== "none" && mode !== "auto" && mode !== "required") {
    const others = param === "tool_choice" ? "none, auto, required or an object" : "none, auto or required";
    throw invalidValue(param, `must be ${others}`, mode);
  }
  if (mode === "required" && tools.length === 0) {
    throw invalidValue(param, "requires at least one tool that the client runs", mode);
  }
  return mode;
}

function readAllowed(value: unknown, table: ToolTable): NamedTool[] {
  const names = expectArray(value, "tool_choice.tools").map((each, index) => {
    const param = `tool_choice.tools[${index}]`;
    return findTool(expectObject(each, param), param, table)?.chatName;
  });
  const allowed = new Set(names);
  return table.tools.filter(({ chatName }) => allowed.has(chatName));
}

/** Throws `invalid_value` for an unknown name. Undefined for any other tool that the table does not contain. */
function findTool(choice: Record<string, unknown>, param: string, table: ToolTable): NamedTool | undefined {
  const type = expectString(choice["type"], `${param}.type`);
  const kind = kinds.find((each) => each === type);
  if (kind === undefined) return undefined;
  const isNamed = kind === "function" || kind === "custom";
  const name = isNamed ? expectString(choice["name"], `${param}.name`) : kind;
  const namespace = ifGiven(choice["namespace"], `${param}.namespace`, expectString) ?? null;
  const tool = table.get({ kind, namespace, name });
  if (tool === null && isNamed) throw invalidValue(`${param}.name`, "must be the name of one of the tools");
  return tool ?? undefined;
}

const kinds: readonly ToolDefinition["kind"][] = ["function", "custom", ...builtInTypes];
