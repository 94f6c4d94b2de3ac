import { isObject } from "../../wire/chat-completion.ts";
import { isKey } from "../../wire/json-layout.ts";
import { invalidType, missing } from "../../wire/parameter-errors.ts";
import type { DialectRequest } from "../dialect.ts";
import {
  anArray,
  anObject,
  checkModel,
  checkOptional,
  integerFrom,
  numberBetween,
  ofType,
} from "../parameter-checks.ts";
import { doublesAny, parseBody } from "../parse-body.ts";

/**
 * Reads and checks a request for a response, as far as every upstream needs it; what only a translation reads is checked
 * there. Throws `invalid_body`, `missing_required_parameter`, `invalid_type`, `invalid_value`.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export function readResponsesRequest(bytes: Buffer, jsonDepthMax: number): DialectRequest {
  const layout = { memberCount: 0, model: { start: 0, end: 0 } };
  const body = parseBody(bytes, jsonDepthMax, (keyStart, keyEnd, start, end) => {
    layout.memberCount++;
    if (isKey(bytes, keyStart, keyEnd, "model")) layout.model = { start, end };
  });
  const { model } = body;
  checkModel(model);
  checkInput(body);
  checkOptional(body, optionalParameters);
  const isDoubled = layout.memberCount !== Object.keys(body).length && doublesAny(bytes, namesRead);
  return {
    body,
    bytes,
    model: model as string,
    modelRange: isDoubled ? null : layout.model,
    stream: body["stream"] === true,
  };
}

/** The other names are of what OpenAI keeps and may be all there is to a request. */
function checkInput(body: Record<string, unknown>): void {
  const { input } = body;
  if (input === undefined || input === null) {
    if (["prompt", "conversation", "previous_response_id"].some((name) => isGiven(body[name]))) return;
    throw missing("input");
  }
  if (typeof input === "string") return;
  if (!Array.isArray(input)) throw invalidType("input", "a string or an array of items", input);
  for (let index = 0; index < input.length; index++) {
    const item: unknown = input[index];
    if (!isObject(item)) throw invalidType(`input[${index}]`, "an object", item);
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function stringOrObject(value: unknown, name: string): void {
  if (typeof value !== "string" && !isObject(value)) throw invalidType(name, "a string or an object", value);
}

const aBoolean = ofType("boolean", "a boolean");
const aString = ofType("string", "a string");

const optionalParameters = [
  ["stream", aBoolean],
  ["stream_options", anObject],
  ["store", aBoolean],
  ["background", aBoolean],
  ["instructions", aString],
  ["previous_response_id", aString],
  ["conversation", stringOrObject],
  ["prompt", anObject],
  ["tools", anArray],
  ["tool_choice", stringOrObject],
  ["parallel_tool_calls", aBoolean],
  ["max_tool_calls", integerFrom(1)],
  ["reasoning", anObject],
  ["text", anObject],
  ["temperature", numberBetween(0, 2)],
  ["top_p", numberBetween(0, 1)],
  ["top_logprobs", integerFrom(0)],
  ["top_logprobs", numberBetween(0, 20)],
  ["max_output_tokens", integerFrom(1)],
  ["truncation", aString],
  ["include", anArray],
  ["metadata", anObject],
  ["user", aString],
  ["safety_identifier", aString],
  ["prompt_cache_key", aString],
  ["service_tier", aString],
] as const;

const namesRead = ["model", "input", ...optionalParameters.map(([name]) => name)];
