import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import {
  invalidValue,
  expectBoolean,
  expectObject,
  expectString,
  ifGiven,
  unsupported,
} from "../../wire/parameter-errors.ts";
import type { DialectRequest } from "../dialect.ts";
import { includes } from "./format-answer.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { toChatTools } from "./to-chat-tools.ts";
import { ToolTable } from "./tool-table.ts";

/**
 * Omits parameters that cannot change the answer, such as `store` and `metadata`, because many upstreams
 * reject them.
 */
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

/** `null` counts as missing, as in OpenAI's API. */
function given(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  );
}
