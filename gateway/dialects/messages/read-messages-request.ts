import { listOf } from "../../wire/json.ts";
import { invalidType, missing } from "../../wire/parameter-errors.ts";
import { type DialectRequest, listDropped } from "../dialect.ts";
import {
  findModelOfTool,
  refuseModelOfTool,
  refuseOtherModels,
  requestMembers,
  aBoolean,
  anObject,
  aString,
  checkObjects,
  checkOptional,
  checkRequired,
  integerFrom,
  messagesWith,
  numberBetween,
  objects,
  type ParameterCheck,
  parameterCheck,
  type BodyLimits,
  OutlinedRequest,
  outlineModelBody,
  requestSchema,
  strings,
} from "../parse-body.ts";
import { currentTools } from "./tools.ts";

/** Accepts unknown members, because Anthropic keeps adding members. */
export function readMessagesRequest(bytes: Buffer, limits: BodyLimits): DialectRequest {
  const request = readRequest(bytes, limits);
  const { max_tokens: given } = request.outline;
  if (given === undefined || given === null) throw missing("max_tokens");
  return request;
}

/** A `count_tokens` request needs no `max_tokens`. */
export function readCountRequest(bytes: Buffer, limits: BodyLimits): DialectRequest {
  const request = readRequest(bytes, limits);
  request.stream = false;
  return request;
}

function readRequest(bytes: Buffer, limits: BodyLimits): DialectRequest {
  const { outline, parseWhole, modelRange } = outlineModelBody(bytes, limits, messagesMembers);
  checkRequired(outline, requiredParameters);
  checkOptional(outline, optionalParameters);
  // Lists tools that call another model, such as Claude Code's `advisor_20260301`, for `x-gateway-dropped`.
  const dropped = listDropped(outline, { members: [], isToolDropped: callsModel });
  const kept = dropped === null ? outline : withoutModelTools(outline);
  refuseOtherModels(kept);
  for (const { tool, param } of currentTools(kept)) refuseModelOfTool(tool, param);
  if (dropped === null) return new OutlinedRequest({ bytes, outline, parseWhole, modelRange });
  return new OutlinedRequest({
    bytes,
    outline: kept,
    parseWhole: () => withoutModelTools(parseWhole()),
    modelRange: null,
    dropped,
  });
}

function withoutModelTools(body: Record<string, unknown>): Record<string, unknown> {
  return { ...body, tools: listOf(body["tools"]).filter((tool) => !callsModel(tool)) };
}

function callsModel(tool: unknown): boolean {
  return findModelOfTool(tool, "") !== null;
}

const textOrBlocks = parameterCheck({ type: ["string", "array"], items: anObject.schema }, (value, name) => {
  if (typeof value === "string") return;
  if (!Array.isArray(value)) throw invalidType(name, "a string or an array of content blocks", value);
  checkObjects(value, name);
});

/** https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages */
const roles = ["user", "assistant", "system"];

const messageSchema = {
  type: "object",
  required: ["role"],
  properties: { role: { enum: roles }, content: textOrBlocks.schema },
  anyOf: [{ required: ["content"] }, { properties: { role: { const: "system" } } }],
};

const someMessages = messagesWith(messageSchema, roles, ({ role, content }, index) => {
  if (content !== undefined) textOrBlocks(content, `messages[${index}].content`);
  // A system message may have no content, only other fields.
  else if (role !== "system") throw missing(`messages[${index}].content`);
});

const requiredParameters = [
  ["model", aString],
  ["messages", someMessages],
] as const;

/** With 0, Anthropic only fills its prompt cache. */
const maxTokens = integerFrom(0);

/** LangChain before 1.0 sends -1 for "not set". */
function minusOneOr(check: ParameterCheck): ParameterCheck {
  return parameterCheck({ anyOf: [{ const: -1 }, check.schema] }, (value, name) => {
    if (value !== -1) check(value, name);
  });
}

const optionalParameters = [
  ["max_tokens", maxTokens],
  ["stream", aBoolean],
  ["temperature", numberBetween(0, 1)],
  ["top_p", minusOneOr(numberBetween(0, 1))],
  ["top_k", integerFrom(-1)],
  ["stop_sequences", strings],
  ["system", textOrBlocks],
  ["tools", objects],
  ["tool_choice", anObject],
  ["thinking", anObject],
  ["output_config", anObject],
  ["metadata", anObject],
] as const;

const messagesMembers = requestMembers(requiredParameters, optionalParameters);

export const countRequestSchema = requestSchema(requiredParameters, optionalParameters);

export const messagesRequestSchema: typeof countRequestSchema = {
  ...countRequestSchema,
  required: [...countRequestSchema.required, "max_tokens"],
  properties: { ...countRequestSchema.properties, max_tokens: maxTokens.schema },
};
