import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import {
  unsupportedValue,
  expectArray,
  expectBoolean,
  expectObject,
  expectString,
  ifGiven,
  invalidType,
  invalidValue,
} from "../../wire/parameter-errors.ts";
import { addTurn } from "../add-turn.ts";
import { readAllowedTools, callInWords } from "../allowed-tools.ts";
import type { ClaudeTraits } from "../claude-models.ts";
import type { Dropped } from "../requested-thinking.ts";
import { rootOfTool, toStrictSchema } from "../strict-schema.ts";
import type { AnthropicMessage, AnthropicTool, ToolChoice } from "./messages-request.ts";
import { toCacheControl } from "./to-anthropic-messages.ts";

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools */
export function toAnthropicTools(
  body: ChatRequestBody,
  messages: AnthropicMessage[],
  traits: ClaudeTraits,
  dropped: Dropped,
): { tools?: AnthropicTool[]; toolChoice?: ToolChoice | undefined } {
  const given = ifGiven(body["tools"], "tools", expectArray) ?? [];
  const allowed = readAllowedTools(body["tool_choice"]);
  const tools = given
    .map((tool, index) => toTool(tool, `tools[${index}]`))
    .filter(({ name }) => allowed === null || allowed.names.has(name));
  const toolChoice = toToolChoice(allowed ? { ...body, tool_choice: allowed.mode } : body);
  if (tools.length > 0) {
    const isForced = toolChoice?.type === "any" || toolChoice?.type === "tool";
    if (!isForced || traits.canForceTools) return { tools, toolChoice };
    dropped.add("tool_choice");
    const text = callInWords(toolChoice.type === "tool" ? toolChoice.name : undefined);
    addTurn(messages, { role: "user", content: [{ type: "text", text }] });
    const { disable_parallel_tool_use: isAlone } = toolChoice;
    return { tools, toolChoice: { type: "auto", disable_parallel_tool_use: isAlone } };
  }
  if (toolChoice?.type === "any" || toolChoice?.type === "tool") {
    throw invalidValue("tool_choice", "requires at least one tool in tools", body["tool_choice"]);
  }
  const past = findCalledTools(messages);
  return past.length > 0 ? { tools: past, toolChoice: { type: "none" } } : {};
}

function toTool(value: unknown, param: string): AnthropicTool {
  const tool = expectObject(value, param);
  const type = expectString(tool["type"], `${param}.type`);
  if (type !== "function")
    throw unsupportedValue(`${param}.type`, "Claude supports only function tools. Remove the tool.", type);
  const fn = expectObject(tool["function"], `${param}.function`);
  const parameters = ifGiven(fn["parameters"], `${param}.function.parameters`, expectObject);
  const isStrict = ifGiven(fn["strict"], `${param}.function.strict`, expectBoolean) === true;
  const schema = rootOfTool(parameters);
  return {
    name: expectString(fn["name"], `${param}.function.name`),
    description: ifGiven(fn["description"], `${param}.function.description`, expectString),
    input_schema: isStrict ? toStrictSchema(schema) : schema,
    strict: isStrict ? true : undefined,
    cache_control: toCacheControl(tool, param) ?? toCacheControl(fn, `${param}.function`),
  };
}

function toToolChoice(body: ChatRequestBody): ToolChoice | undefined {
  const choice = body["tool_choice"];
  const isParallel = ifGiven(body["parallel_tool_calls"], "parallel_tool_calls", expectBoolean);
  const parallel = isParallel === false ? ({ disable_parallel_tool_use: true } as const) : {};
  if (choice === undefined || choice === null) {
    return isParallel === false ? { type: "auto", ...parallel } : undefined;
  }
  if (choice === "none") return { type: "none" };
  if (choice === "auto") return { type: "auto", ...parallel };
  if (choice === "required") return { type: "any", ...parallel };
  if (typeof choice === "string") {
    throw invalidValue("tool_choice", "must be none, auto, required or a function", choice);
  }
  if (!isObject(choice)) throw invalidType("tool_choice", "a string or an object", choice);
  if (choice["type"] !== "function")
    throw unsupportedValue(
      "tool_choice",
      "Claude has no such choice. Use none, auto, required or a function.",
      choice["type"],
    );
  const { name } = expectObject(choice["function"], "tool_choice.function");
  return { type: "tool", name: expectString(name, "tool_choice.function.name"), ...parallel };
}

/**
 * Declares the tools that the model has called, for a request without tools. The API answers 400 to `tool_use`
 * blocks without declared tools.
 */
function findCalledTools(messages: AnthropicMessage[]): AnthropicTool[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_use" ? block.name : [])),
  );
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: "object" } }));
}
