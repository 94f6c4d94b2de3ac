import { type ChatMessage, isObject } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import type { CalledFunctions } from "./called-functions.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import type { ModelTraits } from "./model-traits.ts";
import { parseJson } from "./parse-json.ts";
import { type GeminiPart, toUserParts } from "./to-gemini-parts.ts";

/** What a function gave back: the message of a tool. https://ai.google.dev/api/caching#FunctionResponse */
export function toResultParts(
  message: ChatMessage,
  param: string,
  calledFunctions: CalledFunctions,
  traits: ModelTraits,
): GeminiPart[] {
  const id = typeof message["tool_call_id"] === "string" ? message["tool_call_id"] : undefined;
  const name = (id === undefined ? null : calledFunctions.nameOf(id)) ?? message["name"];
  if (typeof name !== "string") {
    throw invalidValue(`${param}.tool_call_id`, "must be the id of a tool call before it");
  }
  const parts = toUserParts(message.content, `${param}.content`);
  const media = parts.filter(({ text }) => text === undefined);
  const response = toResponse(parts.map(({ text }) => text ?? "").join(""));
  if (media.length === 0) return [{ functionResponse: { id, name, response } }];
  if (!traits.takesMediaInResults) return [{ functionResponse: { id, name, response } }, ...media];
  if (media.some(({ fileData }) => fileData)) {
    throw unsupported(`${param}.content`, "Gemini takes media in results as data URLs only.");
  }
  return [{ functionResponse: { id, name, response, parts: media } }];
}

/** Gemini wants an object. JSON is given as such, so that the model sees its fields. */
function toResponse(text: string): Record<string, unknown> {
  // Whole numbers beyond 53 bits, such as ids, stay as they were written only inside a text.
  const parsed = /\d{16}/.test(text) ? undefined : parseJson(text);
  if (isObject(parsed)) return parsed;
  return { result: Array.isArray(parsed) ? parsed : text };
}
