import { type ChatMessage, isObject } from "../../wire/chat-completion.ts";
import type { ValueCount } from "../../wire/json-layout.ts";
import { parseShallowObject } from "../../wire/parse-shallow-object.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { jsonDepthMax } from "./json-depth-max.ts";
import type { ModelTraits } from "./model-traits.ts";
import { ThoughtSignatures, skippedSignature } from "./thought-signatures.ts";
import { type GeminiPart, toTextParts } from "./to-gemini-parts.ts";

/** What the model said and called earlier, with the signatures it gave out then. */
export function toModelParts(
  message: ChatMessage,
  param: string,
  traits: ModelTraits,
  jsonTexts: ValueCount,
): GeminiPart[] {
  if (isObject(message["audio"])) throw unsupported(`${param}.audio`, "Gemini does not keep what was said.");
  const signatures = new ThoughtSignatures(message);
  const refusal = typeof message["refusal"] === "string" ? message["refusal"] : "";
  const texts = [...toTextParts(message.content, `${param}.content`), ...toTextParts(refusal, param)];
  const lastText = texts.at(-1);
  if (lastText && signatures.ofText !== null) lastText.thoughtSignature = signatures.ofText;
  return [...texts, ...toCallParts(message, param, { signatures, traits, jsonTexts })];
}

type Turn = { signatures: ThoughtSignatures; traits: ModelTraits; jsonTexts: ValueCount };

/** Of calls made at once only the first is signed. */
function toCallParts(
  message: ChatMessage,
  param: string,
  { signatures, traits, jsonTexts }: Turn,
): GeminiPart[] {
  const { tool_calls: calls, function_call: only } = message;
  const parts = Array.isArray(calls)
    ? calls.map((call: unknown, index) =>
        toCallPart(call, `${param}.tool_calls[${index}]`, signatures, jsonTexts),
      )
    : isObject(only)
      ? [{ functionCall: toFunctionCall(only, `${param}.function_call`, jsonTexts) }]
      : [];
  const [first] = parts;
  if (first && traits.needsSignatures) first.thoughtSignature ??= skippedSignature;
  return parts;
}

function toCallPart(
  call: unknown,
  param: string,
  signatures: ThoughtSignatures,
  jsonTexts: ValueCount,
): GeminiPart {
  if (!isObject(call)) throw invalidValue(param, "must be an object");
  if (!isObject(call["function"])) throw unsupported(param, "Gemini knows calls of functions only.");
  const id = typeof call["id"] === "string" ? call["id"] : undefined;
  const functionCall = { id, ...toFunctionCall(call["function"], `${param}.function`, jsonTexts) };
  const signature = signatures.ofCall(call);
  return signature === null ? { functionCall } : { functionCall, thoughtSignature: signature };
}

function toFunctionCall(
  { name, arguments: json }: Record<string, unknown>,
  param: string,
  jsonTexts: ValueCount,
): object {
  if (typeof name !== "string") throw invalidValue(`${param}.name`, "must be a string");
  return { name, args: parseArguments(json, `${param}.arguments`, jsonTexts) };
}

/** No arguments are an empty text as well as an empty object. */
function parseArguments(json: unknown, param: string, jsonTexts: ValueCount): Record<string, unknown> {
  if (json === undefined || json === null || json === "") return {};
  const args = typeof json === "string" ? parseShallowObject(json, jsonTexts, jsonDepthMax) : null;
  if (args === null) throw invalidValue(param, "must be a JSON object, as a string");
  return args;
}
