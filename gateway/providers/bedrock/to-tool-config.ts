import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import {
  unsupportedValue,
  invalidValue,
  expectArray,
  expectObject,
  expectString,
  ifGiven,
} from "../../wire/parameter-errors.ts";
import type { ConverseMessage, ToolConfig, ToolSpec } from "./converse-request.ts";
import { type ModelFamily, cachePointAfter } from "./model-family.ts";
import { addTurn } from "../add-turn.ts";
import { callInWords, functionNameOf, readAllowedTools } from "../allowed-tools.ts";
import type { Dropped } from "../requested-thinking.ts";
import { rootOfTool } from "../strict-schema.ts";

type ToolRules = {
  toolConfig?: ToolConfig | undefined;
  /** Claude's own `tool_choice`, because Converse cannot disable parallel calls. */
  claudeToolChoice?: object | undefined;
  isForced: boolean;
  instruction?: string | undefined;
};

/** https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html */
export function toToolConfig(
  body: ChatRequestBody,
  messages: ConverseMessage[],
  family: ModelFamily,
  dropped: Dropped,
): ToolRules {
  const choice = readToolChoice(body["tool_choice"]);
  const [forcedName] = choice.mode === "required" && choice.names?.size === 1 ? choice.names : [];
  // With a forced tool, the request still declares all tools, so that the prompt cache stays valid.
  const tools = toToolSpecs(body, forcedName === undefined ? choice.names : null, family);
  if (choice.mode === "none" || !Array.isArray(body["tools"]) || body["tools"].length === 0) {
    return forbidCalls(tools, messages);
  }
  if (tools.length === 0) throw invalidValue("tool_choice", "must name functions in tools");

  const isRequired = choice.mode === "required";
  const isForced = isRequired && family.claude?.canForceTools !== false;
  if (isRequired && !isForced) {
    dropped.add("tool_choice");
    addTurn(messages, { role: "user", content: [{ text: callInWords(forcedName) }] });
  }
  if (body["parallel_tool_calls"] === false && family.name === "claude") {
    return { toolConfig: { tools }, claudeToolChoice: oneCallAtMost(isForced, forcedName), isForced };
  }
  if (!isForced) return { toolConfig: { tools }, isForced };
  const toolChoice = forcedName === undefined ? { any: {} } : { tool: { name: forcedName } };
  return { toolConfig: { tools, toolChoice }, isForced };
}

/** Converse has no choice `none`, and requires declared tools in a conversation with tool calls. */
function forbidCalls(tools: ToolConfig["tools"], messages: ConverseMessage[]): ToolRules {
  const past = toPastToolSpecs(messages);
  if (past.length === 0) return { isForced: false };
  return {
    toolConfig: { tools: tools.length > 0 ? tools : past },
    isForced: false,
    instruction: "Do not call any tool. Answer with what you know.",
  };
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use#parallel-tool-use */
function oneCallAtMost(isForced: boolean, name: string | undefined): object {
  if (!isForced) return { type: "auto", disable_parallel_tool_use: true };
  return { type: name === undefined ? "any" : "tool", name, disable_parallel_tool_use: true };
}

/** `names` restricts the choice to certain functions. Null means no restriction. */
type ChosenTools = { mode: "none" | "auto" | "required"; names: ReadonlySet<string> | null };

/** https://platform.openai.com/docs/api-reference/chat/create#chat_create-tool_choice */
function readToolChoice(choice: unknown): ChosenTools {
  if (choice === undefined || choice === null || choice === "auto") return { mode: "auto", names: null };
  if (choice === "none" || choice === "required") return { mode: choice, names: null };
  if (isObject(choice) && choice["type"] === "function") {
    return { mode: "required", names: new Set([functionNameOf(choice, "tool_choice")]) };
  }
  const allowed = readAllowedTools(choice);
  if (allowed) return allowed;
  throw invalidValue("tool_choice", "must be none, auto, required or an object that names functions", choice);
}

/**
 * Omits `strict`, which many models reject.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
 */
function toToolSpecs(
  body: ChatRequestBody,
  names: ReadonlySet<string> | null,
  family: ModelFamily,
): ToolConfig["tools"] {
  return (ifGiven(body["tools"], "tools", expectArray) ?? []).flatMap((value, index) => {
    const param = `tools[${index}]`;
    const tool = expectObject(value, param);
    if (tool["type"] !== "function") {
      throw unsupportedValue(
        `${param}.type`,
        "models on Bedrock support only function tools. Remove the tool.",
        tool["type"],
      );
    }
    const spec = toToolSpec(expectObject(tool["function"], `${param}.function`), `${param}.function`);
    return names === null || names.has(spec.name)
      ? [{ toolSpec: spec }, ...cachePointAfter(holderOfMark(tool), family, "tools")]
      : [];
  });
}

/** Clients mark the tool or its function. */
function holderOfMark(tool: Record<string, unknown>): Record<string, unknown> {
  const { function: fn } = tool;
  return tool["cache_control"] === undefined && isObject(fn) ? fn : tool;
}

function toToolSpec({ name, description, parameters }: Record<string, unknown>, param: string): ToolSpec {
  const words = ifGiven(description, `${param}.description`, expectString) ?? "";
  return {
    name: expectString(name, `${param}.name`),
    // Bedrock rejects a blank description.
    description: words.trim() === "" ? undefined : words,
    inputSchema: { json: toInputSchema(ifGiven(parameters, `${param}.parameters`, expectObject)) },
  };
}

function toInputSchema(parameters: Record<string, unknown> | undefined): Record<string, unknown> {
  return parameters === undefined ? emptySchema : rootOfTool(parameters);
}

/** The schemas are empty, because the request declares no tools. */
function toPastToolSpecs(messages: ConverseMessage[]): ToolConfig["tools"] {
  const blocks = messages.flatMap(({ content }) => content);
  const names = new Set(blocks.flatMap((block) => ("toolUse" in block ? block.toolUse.name : [])));
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: emptySchema } } }));
}

const emptySchema = { type: "object", properties: {} };
