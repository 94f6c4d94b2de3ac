import { type ChatMessage, isObject } from "../../wire/chat-completion.ts";
import { countJsonTexts, parseShallowJson } from "../../wire/parse-shallow-object.ts";
import { CalledFunctions } from "./called-functions.ts";
import type { ModelTraits } from "./model-traits.ts";
import { type GeminiPart, toTextParts, toUserParts } from "./to-gemini-parts.ts";
import { toModelParts } from "./to-model-parts.ts";
import type { ValueCount } from "../../wire/json-layout.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { jsonDepthMax } from "./json-depth-max.ts";

/** The conversation, and apart from it what systems and developers said. https://ai.google.dev/api/caching#Content */
export function toGeminiContents(messages: ChatMessage[], traits: ModelTraits): GeminiConversation {
  const instructions: GeminiPart[][] = [];
  const turns: Turn[] = [];
  const calledFunctions = new CalledFunctions();
  const jsonTexts = countJsonTexts();
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    switch (message.role) {
      case "system":
      case "developer":
        instructions.push(toTextParts(message.content, `${param}.content`));
        break;
      case "user":
        turns.push({ by: "user", parts: toUserParts(message.content, `${param}.content`) });
        break;
      case "assistant":
        calledFunctions.note(message);
        turns.push({ by: "model", parts: toModelParts(message, param, traits, jsonTexts) });
        break;
      case "tool":
      case "function":
        turns.push({
          by: "functions",
          parts: toResultParts(message, param, { calledFunctions, traits, jsonTexts }),
        });
    }
  }
  const instruction = instructions.flat();
  // A request needs something that a user said.
  const isUsers = turns.length === 0 || !traits.takesSystemInstruction;
  if (isUsers) return { contents: toContents([{ by: "user", parts: instruction }, ...turns]) };
  return {
    ...(instruction.length > 0 && { systemInstruction: { parts: instruction } }),
    contents: toContents(turns),
  };
}

export type GeminiConversation = { systemInstruction?: { parts: GeminiPart[] }; contents: GeminiContent[] };

type GeminiContent = { role: "user" | "model"; parts: GeminiPart[] };

/** Results of functions have a turn of their own, though the user's role. */
type Turn = { by: "user" | "model" | "functions"; parts: GeminiPart[] };

/**
 * Joins neighbouring turns of one speaker: the results of calls made at once belong together, and calls must directly
 * follow a user's turn. Turns that are empty would be refused.
 */
function toContents(turns: Turn[]): GeminiContent[] {
  const joined: { by: Turn["by"]; parts: GeminiPart[][] }[] = [];
  for (const { by, parts } of turns) {
    const last = joined.at(-1);
    if (last?.by === by) last.parts.push(parts);
    else if (parts.length > 0) joined.push({ by, parts: [parts] });
  }
  return joined.map(({ by, parts }) => ({ role: by === "model" ? "model" : "user", parts: parts.flat() }));
}

/** What a function gave back: the message of a tool. https://ai.google.dev/api/caching#FunctionResponse */
function toResultParts(
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
