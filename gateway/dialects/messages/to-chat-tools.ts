import { isObject } from "../../wire/json.ts";
import {
  invalidValue,
  expectBoolean,
  expectObject,
  expectString,
  ifGiven,
} from "../../wire/parameter-errors.ts";
import { findTypedTool } from "./typed-tools.ts";
import { type CurrentTool, currentTools, toFunctionName } from "./current-tools.ts";

/**
 * Converts tools to functions. Omits tools that Anthropic runs itself (search, code, MCP servers) and those that only
 * Claude knows (computer, browser).
 */
export function toChatTools(body: Record<string, unknown>): ChatTools {
  const given = currentTools(body).filter(({ tool }) => !isPlaceholder(tool));
  const tools = given.flatMap(toFunction);
  if (tools.length > 0) return { tools, unavailable: [], ...toToolChoice(body["tool_choice"], tools) };
  return { unavailable: given.map(({ tool, param }) => expectString(nameOf(tool), `${param}.name`)) };
}

export type ChatTools = {
  tools?: ChatFunction[];
  tool_choice?: string | object | undefined;
  parallel_tool_calls?: false;
  /** The names of the omitted tools, if the request has no other tools. */
  unavailable: string[];
};

type ChatFunction = { type: "function"; function: { name: string; [field: string]: unknown } };

/** Claude Code sends this placeholder for tools that the model can load later. */
function isPlaceholder(tool: unknown): boolean {
  return isObject(tool) && tool["name"] === "DeferredToolPlaceholder" && tool["defer_loading"] === true;
}

/** Ignores `defer_loading`, because only Anthropic can search for deferred tools. */
function toFunction({ tool: value, param }: CurrentTool): ChatFunction[] {
  const tool = expectObject(value, param);
  const type = ifGiven(tool["type"], `${param}.type`, expectString) ?? "custom";
  const name = () => toFunctionName(expectString(tool["name"], `${param}.name`));
  const cacheControl = ifGiven(tool["cache_control"], `${param}.cache_control`, expectObject);
  const marker = cacheControl && { cache_control: cacheControl };
  if (type !== "custom") {
    const typed = findTypedTool(type);
    return typed ? [{ type: "function", function: { name: name(), ...typed }, ...marker }] : [];
  }
  const description = ifGiven(tool["description"], `${param}.description`, expectString);
  const isStrict = ifGiven(tool["strict"], `${param}.strict`, expectBoolean);
  return [
    {
      type: "function",
      function: {
        name: name(),
        ...(description !== undefined && { description }),
        parameters: expectObject(tool["input_schema"], `${param}.input_schema`),
        ...(isStrict === true && { strict: true }),
      },
      ...marker,
    },
  ];
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools#forcing-tool-use */
function toToolChoice(value: unknown, tools: ChatFunction[]): Omit<ChatTools, "tools" | "unavailable"> {
  const choice = ifGiven(value, "tool_choice", expectObject);
  if (choice === undefined) return {};
  const param = "tool_choice.disable_parallel_tool_use";
  const isAlone = ifGiven(choice["disable_parallel_tool_use"], param, expectBoolean) === true;
  const parallel = isAlone ? { parallel_tool_calls: false as const } : {};
  switch (choice["type"]) {
    case "auto":
      return parallel;
    case "any":
      return { tool_choice: "required", ...parallel };
    case "none":
      return { tool_choice: "none" };
    case "tool": {
      const name = toFunctionName(expectString(choice["name"], "tool_choice.name"));
      // The chosen tool may have been omitted.
      const isThere = tools.some((tool) => tool.function.name === name);
      return { ...(isThere && { tool_choice: { type: "function", function: { name } } }), ...parallel };
    }
    default:
      throw invalidValue("tool_choice.type", "must be one of auto, any, tool, none", choice["type"]);
  }
}

function nameOf(tool: unknown): unknown {
  if (!isObject(tool)) return undefined;
  return tool["name"] ?? tool["mcp_server_name"] ?? tool["type"];
}
