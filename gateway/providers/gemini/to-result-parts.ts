import { type ChatMessage, isObject } from "../../wire/chat-completion.ts";
import type { ValueCount } from "../../wire/json-layout.ts";
import { parseShallowJson } from "../../wire/parse-shallow-object.ts";
import { unsupported } from "../../wire/unsupported.ts";
import type { CalledFunctions } from "./called-functions.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { jsonDepthMax } from "./json-depth-max.ts";
import type { ModelTraits } from "./model-traits.ts";
import { type GeminiPart, toUserParts } from "./to-gemini-parts.ts";

/** What a function gave back: the message of a tool. https://ai.google.dev/api/caching#FunctionResponse */
export function toResultParts(
  message: ChatMessage,
  param: string,
  { calledFunctions, traits, jsonTexts }: Conversation,
): GeminiPart[] {
  const id = typeof message["tool_call_id"] === "string" ? message["tool_call_id"] : undefined;
  const name = (id === undefined ? null : calledFunctions.nameOf(id)) ?? message["name"];
  if (typeof name !== "string") {
    throw invalidValue(`${param}.tool_call_id`, "must be the id of a tool call before it");
  }
  const parts = toUserParts(message.content, `${param}.content`);
  const media = parts.filter(({ text }) => text === undefined);
  const response = toResponse(parts.map(({ text }) => text ?? "").join(""), jsonTexts);
  if (media.length === 0) return [{ functionResponse: { id, name, response } }];
  if (!traits.takesMediaInResults) return [{ functionResponse: { id, name, response } }, ...media];
  if (media.some(({ fileData }) => fileData)) {
    throw unsupported(`${param}.content`, "Gemini takes media in results as data URLs only.");
  }
  return [{ functionResponse: { id, name, response, parts: media } }];
}

type Conversation = { calledFunctions: CalledFunctions; traits: ModelTraits; jsonTexts: ValueCount };

/** Gemini wants an object. JSON is given as such, so that the model sees its fields. */
function toResponse(text: string, jsonTexts: ValueCount): Record<string, unknown> {
  const mayBeJson = text.length <= jsonCharactersMax && /^\s*[{[]/.test(text);
  const value = mayBeJson ? parseShallowJson(text, jsonTexts, jsonDepthMax) : undefined;
  // Whole numbers beyond 53 bits, such as ids, stay as they were written only inside a text.
  const parsed = value === undefined || /(?<!\d)\d{16}/.test(text) ? undefined : value;
  if (isObject(parsed)) return parsed;
  return { result: Array.isArray(parsed) ? parsed : text };
}

/** A longer text stays one: to read it could keep others waiting. */
const jsonCharactersMax = 4_000_000;
