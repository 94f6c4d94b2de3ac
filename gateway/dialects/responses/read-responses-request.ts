import { isObject } from "../../wire/json.ts";
import { invalidType, missing } from "../../wire/parameter-errors.ts";
import type { DialectRequest } from "../dialect.ts";
import {
  refuseModelsOfTools,
  refuseOtherModels,
  requestMembers,
  aBoolean,
  anObject,
  aString,
  checkOptional,
  checkRequired,
  integerFrom,
  numberBetween,
  objects,
  parameterCheck,
  type BodyLimits,
  OutlinedRequest,
  outlineModelBody,
  type RequestSchema,
  requestSchema,
  strings,
} from "../parse-body.ts";

/** https://platform.openai.com/docs/api-reference/responses/create */
export function readResponsesRequest(bytes: Buffer, limits: BodyLimits): DialectRequest {
  const { outline: body, parseWhole, modelRange } = outlineModelBody(bytes, limits, responsesMembers);
  checkRequired(body, requiredParameters);
  checkInputIsGiven(body);
  checkOptional(body, optionalParameters);
  refuseOtherModels(body);
  return new OutlinedRequest({ bytes, outline: body, parseWhole, modelRange });
}

/** A request without `input` is valid if it refers to a stored prompt, conversation or response. */
function checkInputIsGiven(body: Record<string, unknown>): void {
  if (["input", ...inputsKept].every((name) => (body[name] ?? null) === null)) throw missing("input");
}

const inputsKept = ["prompt", "conversation", "previous_response_id"];

const textOrItems = parameterCheck(
  { type: ["string", "array"], items: { type: "object" } },
  (input, name) => {
    if (typeof input === "string") return;
    if (!Array.isArray(input)) throw invalidType(name, "a string or an array of items", input);
    for (let index = 0; index < input.length; index++) {
      const item: unknown = input[index];
      if (!isObject(item)) throw invalidType(`${name}[${index}]`, "an object", item);
      if (item["tools"] !== undefined) refuseModelsOfTools(item["tools"], `${name}[${index}].tools`);
    }
  },
);

const stringOrObject = parameterCheck({ type: ["string", "object"] }, (value, name) => {
  if (typeof value !== "string" && !isObject(value)) throw invalidType(name, "a string or an object", value);
});

const requiredParameters = [["model", aString]] as const;

const optionalParameters = [
  ["input", textOrItems],
  ["stream", aBoolean],
  ["stream_options", anObject],
  ["store", aBoolean],
  ["background", aBoolean],
  ["instructions", aString],
  ["previous_response_id", aString],
  ["conversation", stringOrObject],
  ["prompt", anObject],
  ["tools", objects],
  ["tool_choice", stringOrObject],
  ["parallel_tool_calls", aBoolean],
  ["max_tool_calls", integerFrom(1)],
  ["reasoning", anObject],
  ["text", anObject],
  ["temperature", numberBetween(0, 2)],
  ["top_p", numberBetween(0, 1)],
  ["top_logprobs", integerFrom(0, 20)],
  ["max_output_tokens", integerFrom(1)],
  ["truncation", aString],
  ["include", strings],
  ["metadata", anObject],
  ["user", aString],
  ["safety_identifier", aString],
  ["prompt_cache_key", aString],
  ["service_tier", aString],
] as const;

const responsesMembers = requestMembers(requiredParameters, optionalParameters);

const schema = requestSchema(requiredParameters, optionalParameters);

export const responsesRequestSchema: typeof schema & RequestSchema = {
  ...schema,
  anyOf: ["input", ...inputsKept].map((name) => ({
    required: [name],
    properties: { [name]: { not: { type: "null" } } },
  })),
};
