import { isUtf8 } from "node:buffer";
import { GatewayError } from "../../errors.ts";
import { type ChatRequestBody, chatRoles, isObject } from "../../wire/chat-completion.ts";
import { isKey, scanMembers } from "../../wire/json-layout.ts";

/** A chat completion request: what it says, and the bytes that said it, which are what a like-minded upstream gets. */
export type ChatRequest = {
  body: ChatRequestBody;
  bytes: Buffer;
  /** Where in the bytes the members stand that may have to change; null when one that was read occurs twice. */
  layout: ChatRequestLayout | null;
  stream: boolean;
  /** Whether the client asked for the chunk with the usage. */
  includeUsage: boolean;
};

type ByteRange = { start: number; end: number };
type ChatRequestLayout = { model: ByteRange; streamOptions: ByteRange | null };

/**
 * Reads and checks a client's chat completion request. Strict about what the gateway reads, silent about the rest.
 * Throws `invalid_body`, `missing_required_parameter`, `invalid_type`, `invalid_value`.
 */
export function readChatRequest(bytes: Buffer, jsonDepthMax: number): ChatRequest {
  const layout = readLayout(bytes, jsonDepthMax);
  const body = parseObject(bytes);
  checkModel(body["model"]);
  checkMessages(body["messages"]);
  for (const [name, check] of optionalParameters) {
    const value = body[name];
    if (value !== undefined && value !== null) check(value, name);
  }
  const request = body as ChatRequestBody;
  const stream = request.stream === true;
  const isDoubled = layout.memberCount !== Object.keys(body).length && doublesWhatIsRead(bytes);
  return {
    body: request,
    bytes,
    layout: isDoubled ? null : layout,
    stream,
    includeUsage: stream && request.stream_options?.include_usage === true,
  };
}

/** Also refuses what is nested so deeply that later steps could not handle it. */
function readLayout(bytes: Buffer, jsonDepthMax: number): ChatRequestLayout & { memberCount: number } {
  if (!isUtf8(bytes)) throw new GatewayError("invalid_body", "The request body is not valid UTF-8.");
  const layout: ReturnType<typeof readLayout> = {
    model: { start: 0, end: 0 },
    streamOptions: null,
    memberCount: 0,
  };
  const result = scanMembers(bytes, 0, bytes.length, jsonDepthMax, (keyStart, keyEnd, start, end) => {
    layout.memberCount++;
    if (isKey(bytes, keyStart, keyEnd, "model")) layout.model = { start, end };
    else if (isKey(bytes, keyStart, keyEnd, "stream_options")) layout.streamOptions = { start, end };
  });
  // Said before the parser sees it: on megabytes of nonsense that is made of brackets it takes seconds.
  if (result === "not an object") {
    throw new GatewayError("invalid_body", "The request body is not valid JSON, or not an object.");
  }
  if (result === "too deep") {
    throw new GatewayError("invalid_body", `The request body is nested deeper than ${jsonDepthMax} levels.`);
  }
  return layout;
}

/** Whether a member that is read here occurs twice, which rarely has to be asked. */
function doublesWhatIsRead(bytes: Buffer): boolean {
  const seen = new Set<string>();
  let isDoubled = false;
  scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd) => {
    const name = String(JSON.parse(bytes.toString("utf8", keyStart - 1, keyEnd + 1)));
    isDoubled ||= seen.has(name) && namesRead.has(name);
    seen.add(name);
  });
  return isDoubled;
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    // The parser's own message quotes the body, which may hold anything.
    throw new GatewayError("invalid_body", "The request body is not valid JSON.", { cause });
  }
  if (!isObject(body)) throw new GatewayError("invalid_body", "The request body must be a JSON object.");
  return body;
}

function checkModel(model: unknown): void {
  if (model === undefined) throw missing("model");
  if (typeof model !== "string") throw invalidType("model", "a string", model);
}

function checkMessages(messages: unknown): void {
  if (messages === undefined) throw missing("messages");
  if (!Array.isArray(messages)) throw invalidType("messages", "an array of objects", messages);
  if (messages.length === 0) throw invalidValue("messages", "must have at least one message");
  for (let index = 0; index < messages.length; index++) checkMessage(messages[index], index);
}

function checkMessage(message: unknown, index: number): void {
  if (!isObject(message)) throw invalidType(`messages[${index}]`, "an object", message);
  const { role, content } = message;
  if (role === undefined) throw missing(`messages[${index}].role`);
  if (typeof role !== "string") throw invalidType(`messages[${index}].role`, "a string", role);
  if (!(chatRoles as readonly string[]).includes(role)) {
    throw invalidValue(`messages[${index}].role`, `must be one of ${chatRoles.join(", ")}`);
  }
  if (typeof content !== "string" && !Array.isArray(content) && content !== undefined && content !== null) {
    throw invalidType(`messages[${index}].content`, "a string or an array of content parts", content);
  }
}

type Check = (value: unknown, name: string) => void;

const optionalParameters: [name: string, check: Check][] = [
  ["stream", ofType("boolean", "a boolean")],
  ["stream_options", anObject],
  ["temperature", numberBetween(0, 2)],
  ["top_p", numberBetween(0, 1)],
  ["frequency_penalty", numberBetween(-2, 2)],
  ["presence_penalty", numberBetween(-2, 2)],
  ["max_tokens", integerFrom(1)],
  ["max_completion_tokens", integerFrom(1)],
  ["n", integerFrom(1)],
  ["tools", anArray],
];

const namesRead = new Set(["model", "messages", ...optionalParameters.map(([name]) => name)]);

function ofType(type: string, expected: string): Check {
  return (value, name) => {
    if (typeof value !== type) throw invalidType(name, expected, value);
  };
}

function anObject(value: unknown, name: string): void {
  if (!isObject(value)) throw invalidType(name, "an object", value);
}

function anArray(value: unknown, name: string): void {
  if (!Array.isArray(value)) throw invalidType(name, "an array", value);
}

function numberBetween(least: number, most: number): Check {
  return (value, name) => {
    if (typeof value !== "number") throw invalidType(name, "a number", value);
    if (!(value >= least && value <= most)) throw invalidValue(name, `must be between ${least} and ${most}`);
  };
}

function integerFrom(least: number): Check {
  return (value, name) => {
    if (!Number.isInteger(value)) throw invalidType(name, "an integer", value);
    if ((value as number) < least) throw invalidValue(name, `must be at least ${least}`);
  };
}

function missing(param: string): GatewayError {
  return new GatewayError("missing_required_parameter", `Missing required parameter: '${param}'.`, { param });
}

function invalidType(param: string, expected: string, value: unknown): GatewayError {
  const actual =
    value === null
      ? "null"
      : Array.isArray(value)
        ? "an array"
        : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
  return new GatewayError(
    "invalid_type",
    `Invalid type for '${param}': expected ${expected}, but got ${actual} instead.`,
    { param },
  );
}

function invalidValue(param: string, rule: string): GatewayError {
  return new GatewayError("invalid_value", `Invalid value for '${param}': it ${rule}.`, { param });
}
