import { isObject } from "../../wire/chat-completion.ts";
import { isKey } from "../../wire/json-layout.ts";
import { invalidType, invalidValue, missing } from "../../wire/parameter-errors.ts";
import type { DialectRequest } from "../dialect.ts";
import {
  anArray,
  anObject,
  checkModel,
  checkOptional,
  integerFrom,
  numberBetween,
  ofType,
  type ParameterCheck,
} from "../parameter-checks.ts";
import { doublesAny, parseBody } from "../parse-body.ts";

/**
 * Reads and checks a request for a message. Strict about what the gateway reads, silent about the rest, of which there is
 * always something new. Throws as `readChatRequest` does.
 */
export function readMessagesRequest(bytes: Buffer, jsonDepthMax: number): DialectRequest {
  const request = readRequest(bytes, jsonDepthMax);
  const { max_tokens: maxTokens } = request.body;
  // Anthropic demands it as well; 0 asks it to fill its cache.
  if (maxTokens === undefined || maxTokens === null) throw missing("max_tokens");
  return request;
}

/** The same for `count_tokens`, which answers nothing and so needs no limit. */
export function readCountRequest(bytes: Buffer, jsonDepthMax: number): DialectRequest {
  return { ...readRequest(bytes, jsonDepthMax), stream: false };
}

function readRequest(bytes: Buffer, jsonDepthMax: number): DialectRequest {
  let modelRange = { start: 0, end: 0 };
  let memberCount = 0;
  const body = parseBody(bytes, jsonDepthMax, (keyStart, keyEnd, start, end) => {
    memberCount++;
    if (isKey(bytes, keyStart, keyEnd, "model")) modelRange = { start, end };
  });
  const { model, messages } = body;
  checkModel(model);
  checkMessages(messages);
  checkOptional(body, optionalParameters);
  const isDoubled = memberCount !== Object.keys(body).length && doublesAny(bytes, namesRead);
  return {
    body,
    bytes,
    model: String(model),
    modelRange: isDoubled ? null : modelRange,
    stream: body["stream"] === true,
  };
}

function checkMessages(messages: unknown): void {
  if (messages === undefined) throw missing("messages");
  if (!Array.isArray(messages)) throw invalidType("messages", "an array of objects", messages);
  if (messages.length === 0) throw invalidValue("messages", "must have at least one message");
  for (const [index, message] of messages.entries()) checkMessage(message, `messages[${index}]`);
}

function checkMessage(message: unknown, param: string): void {
  if (!isObject(message)) throw invalidType(param, "an object", message);
  const { role, content } = message;
  if (role === undefined) throw missing(`${param}.role`);
  if (typeof role !== "string") throw invalidType(`${param}.role`, "a string", role);
  if (!roles.includes(role)) throw invalidValue(`${param}.role`, `must be one of ${roles.join(", ")}`);
  if (content !== undefined) checkContent(content, `${param}.content`);
  // A system message may be there for its other fields only.
  else if (role !== "system") throw missing(`${param}.content`);
}

/** https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages */
const roles = ["user", "assistant", "system"];

const checkContent: ParameterCheck = (value, name) => {
  if (typeof value !== "string" && !Array.isArray(value)) {
    throw invalidType(name, "a string or an array of content blocks", value);
  }
};

const optionalParameters = [
  ["max_tokens", integerFrom(0)],
  ["stream", ofType("boolean", "a boolean")],
  ["temperature", numberBetween(0, 1)],
  ["top_p", numberBetween(0, 1)],
  ["top_k", integerFrom(0)],
  ["stop_sequences", anArray],
  ["system", checkContent],
  ["tools", anArray],
  ["tool_choice", anObject],
  ["thinking", anObject],
  ["output_config", anObject],
  ["metadata", anObject],
] as const;

const namesRead = ["model", "messages", ...optionalParameters.map(([name]) => name)];
