import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import {
  invalidValue,
  expectBoolean,
  expectObject,
  expectString,
  given,
  ifGiven,
  unsupported,
  expectArray,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import type { DialectRequest } from "../dialect.ts";
import { includes } from "./format-answer.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { ToolTable, type NamedTool, type ToolDefinition } from "./tools.ts";
import { builtInTypes } from "./built-in-tools.ts";

/** Many upstreams reject parameters that cannot change the answer, such as `store` and `metadata`. */
export function toChatRequest({ body, model }: DialectRequest): ChatRequestBody {
  for (const [param, why] of inexpressible) {
    const value = body[param];
    if (value !== undefined && value !== null && value !== false) throw unsupported(param, why);
  }
  const table = new ToolTable(body);
  return {
    model,
    messages: toChatMessages(body, table),
    ...toChatTools(body, table),
    ...toTextOptions(body["text"]),
    ...toLogprobs(body),
    ...given({
      reasoning_effort: toEffort(body["reasoning"]),
      max_completion_tokens: body["max_output_tokens"],
      temperature: body["temperature"],
      top_p: body["top_p"],
      user: body["user"],
    }),
  };
}

const keepsNothing =
  "this gateway keeps no responses. Send the whole conversation in `input`, and `store: false`.";
const keepsNoConversations =
  "only OpenAI can read stored conversations. Send `previous_response_id`, or the whole conversation in `input`.";

const inexpressible = [
  ["previous_response_id", keepsNothing],
  ["conversation", keepsNoConversations],
  ["background", "the gateway cannot return a response later. Remove the parameter."],
  ["prompt", "only OpenAI can read stored prompts. Send the prompt itself in `instructions` and `input`."],
] as const;

/** https://platform.openai.com/docs/guides/structured-outputs */
function toTextOptions(value: unknown): Record<string, unknown> {
  const text = ifGiven(value, "text", expectObject) ?? {};
  return given({
    response_format: toResponseFormat(ifGiven(text["format"], "text.format", expectObject)),
    verbosity: ifGiven(text["verbosity"], "text.verbosity", expectString),
  });
}

function toResponseFormat(format: Record<string, unknown> | undefined): object | undefined {
  if (format === undefined) return undefined;
  const type = expectString(format["type"], "text.format.type");
  if (type === "text") return undefined;
  if (type === "json_object") return { type };
  if (type !== "json_schema") {
    throw invalidValue("text.format.type", "must be one of text, json_object, json_schema", type);
  }
  return {
    type,
    json_schema: given({
      name: expectString(format["name"], "text.format.name"),
      description: ifGiven(format["description"], "text.format.description", expectString),
      schema: expectObject(format["schema"], "text.format.schema"),
      strict: ifGiven(format["strict"], "text.format.strict", expectBoolean),
    }),
  };
}

/** Ignores `reasoning.summary`, because the client receives all reasoning that the upstream returns. */
function toEffort(value: unknown): string | undefined {
  const reasoning = ifGiven(value, "reasoning", expectObject);
  return ifGiven(reasoning?.["effort"], "reasoning.effort", expectString);
}

function toLogprobs(body: Record<string, unknown>): Record<string, unknown> {
  if (!includes(body, "message.output_text.logprobs")) return {};
  return given({ logprobs: true, top_logprobs: body["top_logprobs"] });
}

/** The tool members of a chat completion request. Empty for a request without tools. */
function toChatTools(
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
