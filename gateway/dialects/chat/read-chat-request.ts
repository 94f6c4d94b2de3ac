import { type ChatRequestBody, chatRoles } from "../../wire/chat-completion.ts";
import { isObject, isKey } from "../../wire/json.ts";
import { invalidType, invalidValue, missing } from "../../wire/parameter-errors.ts";
import { refuseOtherModels, RequestMembers, requestMembers } from "../request-members.ts";
import {
  aModel,
  anArray,
  anObject,
  checkOptional,
  checkRequired,
  integerFrom,
  numberBetween,
  ofType,
  parameterCheck,
} from "../parameter-checks.ts";
import type { DialectRequest } from "../dialect.ts";
import { type BodyLimits, parseBody } from "../parse-body.ts";
import { requestSchema } from "../request-schema.ts";

/** A parsed chat completion request and its bytes, which upstreams of the same dialect receive. */
export type ChatRequest = DialectRequest & {
  body: ChatRequestBody;
  /** Positions of the members that may change. Null if a known member occurs twice. */
  layout: ChatRequestLayout | null;
  /** Whether the client requested the usage chunk. */
  includeUsage: boolean;
};

type ByteRange = { start: number; end: number };
type ChatRequestLayout = {
  model: ByteRange;
  streamOptions: ByteRange | null;
  /** The key, between its quotes. */
  maxCompletionTokensKey: ByteRange | null;
};

/**
 * Parses and validates a client's chat completion request. Checks only the members that the gateway reads. Throws
 * `invalid_body`, `missing_required_parameter`, `invalid_type` or `invalid_value`.
 */
export function readChatRequest(bytes: Buffer, limits: BodyLimits): ChatRequest {
  const layout: ChatRequestLayout = {
    model: { start: 0, end: 0 },
    streamOptions: null,
    maxCompletionTokensKey: null,
  };
  const walked = { count: 0, bytes: 0 };
  const body = parseBody(bytes, limits, (keyStart, keyEnd, start, end) => {
    walked.count++;
    walked.bytes += keyEnd - keyStart;
    if (isKey(bytes, keyStart, keyEnd, "model")) layout.model = { start, end };
    else if (isKey(bytes, keyStart, keyEnd, "stream_options")) layout.streamOptions = { start, end };
    else if (isKey(bytes, keyStart, keyEnd, "max_completion_tokens"))
      layout.maxCompletionTokensKey = { start: keyStart, end: keyEnd };
  });
  const isDoubled = chatMembers.check(bytes, body, walked);
  checkRequired(body, requiredParameters);
  checkOptional(body, optionalParameters);
  refuseOtherModels(body);
  const request = body as ChatRequestBody;
  const { stream_options: options } = request;
  // Another spelling could override the request for usage, which would make costs estimates.
  if (options) streamOptions.checkKeys(options, Object.keys(options));
  const stream = request.stream === true;
  return {
    body: request,
    bytes,
    model: request.model,
    modelRange: isDoubled ? null : layout.model,
    layout: isDoubled ? null : layout,
    stream,
    includeUsage: stream && options?.include_usage === true,
  };
}

const messageSchema = {
  type: "object",
  required: ["role"],
  properties: { role: { enum: chatRoles }, content: { type: ["string", "array", "null"] } },
};

const someMessages = parameterCheck(
  { type: "array", minItems: 1, items: messageSchema },
  (messages, name) => {
    if (!Array.isArray(messages)) throw invalidType(name, "an array of objects", messages);
    if (messages.length === 0) throw invalidValue(name, "must contain at least one message");
    for (let index = 0; index < messages.length; index++) checkMessage(messages[index], index);
  },
);

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

const requiredParameters = [
  ["model", aModel],
  ["messages", someMessages],
] as const;

const optionalParameters = [
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
] as const;

const chatMembers = requestMembers(requiredParameters, optionalParameters);
const streamOptions = new RequestMembers(["include_usage"], []);

export const chatRequestSchema = requestSchema(requiredParameters, optionalParameters);
