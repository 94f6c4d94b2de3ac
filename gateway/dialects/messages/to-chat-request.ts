import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { GatewayError } from "../../errors.ts";
import { isObject } from "../../wire/json.ts";
import type { DialectRequest } from "../dialect.ts";
import {
  expectArray,
  expectNumber,
  expectObject,
  expectString,
  given,
  ifGiven,
  unsupported,
  unsupportedValue,
  invalidValue,
} from "../../wire/parameter-errors.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { toChatTools } from "./tools.ts";

/**
 * Converts a messages request to a chat completion. Ignores parameters that concern only Anthropic:
 * `service_tier`, `context_management`, `container`, `mcp_servers`, `safeguards` and unknown parameters.
 */
export function toChatRequest({ body, model }: DialectRequest): ChatRequestBody {
  if (body["max_tokens"] === 0) {
    throw unsupported("max_tokens", "the value 0 works only with Anthropic's models. Use at least 1.");
  }
  if (isObject(body["thread"])) throw threadsUnsupported();
  const { unavailable, ...tools } = toChatTools(body);
  return given({
    model,
    messages: toChatMessages(body, unavailable),
    ...tools,
    max_completion_tokens: body["max_tokens"],
    temperature: body["temperature"],
    top_p: unlessUnset(body["top_p"]),
    top_k: unlessUnset(body["top_k"]),
    stop: toStop(body["stop_sequences"]),
    ...toThinking(body),
    response_format: toResponseFormat(body),
    user: toUser(body["metadata"]),
    cache_control: ifGiven(body["cache_control"], "cache_control", expectObject),
  }) as ChatRequestBody;
}

/**
 * Only Anthropic keeps threads. With these details, Anthropic's SDKs send the whole conversation instead.
 * https://github.com/anthropics/anthropic-sdk-typescript (lib/internal/threads)
 */
function threadsUnsupported(): GatewayError {
  const message =
    "Message threads work only with Anthropic's models. Omit `thread` and send the whole conversation.";
  const details = { error_code: "thread_unsupported_request", unsupported: ["model"] };
  return new GatewayError("unsupported_parameter", message, { param: "thread", details });
}

/** LangChain before 1.0 sends -1 for "not set". */
function unlessUnset(value: unknown): unknown {
  return value === -1 ? undefined : value;
}

function toStop(value: unknown): string[] | undefined {
  const sequences = ifGiven(value, "stop_sequences", expectArray) ?? [];
  if (sequences.length === 0) return undefined;
  return sequences.map((sequence, index) => expectString(sequence, `stop_sequences[${index}]`));
}

/** Omits IDs such as Claude Code's JSON text, because upstreams limit the length of `user`. */
function toUser(metadata: unknown): string | undefined {
  const id = ifGiven(metadata, "metadata", expectObject)?.["user_id"];
  return typeof id === "string" && /^[\w.:@-]{1,64}$/.test(id) ? id : undefined;
}

/**
 * Each provider converts the client's thinking, whose effort or budget its model may accept as they are.
 * https://platform.claude.com/docs/en/build-with-claude/effort
 */
function toThinking(body: Record<string, unknown>): Record<string, unknown> {
  const thinking = ifGiven(body["thinking"], "thinking", expectObject);
  ifGiven(thinking?.["budget_tokens"], "thinking.budget_tokens", expectNumber);
  const { effort: requestedEffort } = ifGiven(body["output_config"], "output_config", expectObject) ?? {};
  const effort = ifGiven(requestedEffort, "output_config.effort", expectString);
  if (effort !== undefined && !efforts.includes(effort)) {
    throw invalidValue("output_config.effort", `must be one of ${efforts.join(", ")}`, effort);
  }
  return { thinking, reasoning_effort: effort };
}

const efforts = ["low", "medium", "high", "xhigh", "max"];

/**
 * Reads the answer's schema from `output_config.format`, or from its older name `output_format`.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
function toResponseFormat(body: Record<string, unknown>): object | undefined {
  const { format: own } = ifGiven(body["output_config"], "output_config", expectObject) ?? {};
  const isOld = own === undefined || own === null;
  const param = isOld ? "output_format" : "output_config.format";
  const format = ifGiven(isOld ? body["output_format"] : own, param, expectObject);
  if (format === undefined) return undefined;
  if (expectString(format["type"], `${param}.type`) !== "json_schema") {
    throw unsupportedValue(
      `${param}.type`,
      "other formats work only with Anthropic's models. Use json_schema.",
      format["type"],
    );
  }
  const schema = expectObject(format["schema"], `${param}.schema`);
  return { type: "json_schema", json_schema: { name: "answer", schema, strict: isStrict(schema) } };
}

/**
 * Whether OpenAI accepts the schema as strict. Strict schemas have no optional or additional properties.
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const { properties, required, additionalProperties } = schema;
  if (schema["type"] === "object" || isObject(properties)) {
    const names = isObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !Array.isArray(required)) return false;
    const requiredNames = new Set<unknown>(required);
    if (!names.every((name) => requiredNames.has(name))) return false;
    if (isObject(properties) && !Object.values(properties).every(isStrict)) return false;
  }
  return Object.entries(schema).every(([keyword, value]) => keyword === "properties" || isStrict(value));
}
