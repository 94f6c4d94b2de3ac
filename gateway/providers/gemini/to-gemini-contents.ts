import { type ChatMessage, imageUrlsIn } from "../../wire/chat-completion.ts";
import { parseExact } from "../../wire/exact-numbers.ts";
import { isObject, type ValueCount } from "../../wire/json.ts";
import { countJsonTexts, parseShallowJson, parseArguments } from "../../wire/parse-shallow-object.ts";
import type { ModelTraits } from "./generation-config.ts";
import { type GeminiPart, toMediaPart, toTextParts, toUserParts } from "./to-gemini-parts.ts";
import { unsupported, invalidValue } from "../../wire/parameter-errors.ts";
import { skippedSignature, ThoughtSignatures } from "./thought-signatures.ts";

/** https://ai.google.dev/api/caching#Content */
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
  // A request needs at least one turn, and some models reject system instructions.
  const isUsers = turns.length === 0 || !traits.takesSystemInstruction;
  if (isUsers) return { contents: toContents([{ by: "user", parts: instruction }, ...turns]) };
  return {
    ...(instruction.length > 0 && { systemInstruction: { parts: instruction } }),
    contents: toContents(turns),
  };
}

export type GeminiConversation = { systemInstruction?: { parts: GeminiPart[] }; contents: GeminiContent[] };

type GeminiContent = { role: "user" | "model"; parts: GeminiPart[] };

/** Function results need a separate turn with the user's role. */
type Turn = { by: "user" | "model" | "functions"; parts: GeminiPart[] };

/**
 * Joins consecutive turns of the same kind, because Gemini requires the results of parallel calls in one turn. Omits
 * empty turns, which Gemini rejects.
 */
function toContents(turns: Turn[]): GeminiContent[] {
  const joined: { by: Turn["by"]; parts: GeminiPart[][] }[] = [];
  for (const { by, parts } of turns) {
    const last = joined.at(-1);
    if (last?.by === by) last.parts.push(parts);
    else if (parts.length > 0) joined.push({ by, parts: [parts] });
  }
  // Without the blank question at its end, the conversation would ask the model to continue its last answer.
  if ((joined.at(-1)?.by ?? "model") === "model" && turns.at(-1)?.by === "user")
    joined.push({ by: "user", parts: [[{ text: "(empty)" }]] });
  return joined.map(({ by, parts }) => ({ role: by === "model" ? "model" : "user", parts: parts.flat() }));
}

/** https://ai.google.dev/api/caching#FunctionResponse */
function toResultParts(
  message: ChatMessage,
  param: string,
  { calledFunctions, traits, jsonTexts }: Conversation,
): GeminiPart[] {
  const id = typeof message["tool_call_id"] === "string" ? message["tool_call_id"] : undefined;
  const name = (id === undefined ? null : calledFunctions.nameOf(id)) ?? message["name"];
  if (typeof name !== "string") {
    throw invalidValue(`${param}.tool_call_id`, "must be the ID of an earlier tool call");
  }
  const parts = toUserParts(message.content, `${param}.content`);
  const media = parts.filter(({ text }) => text === undefined);
  const response = toResponse(parts.map(({ text }) => text ?? "").join(""), jsonTexts);
  if (media.length === 0) return [{ functionResponse: { id, name, response } }];
  if (!traits.takesMediaInResults) return [{ functionResponse: { id, name, response } }, ...media];
  if (media.some(({ fileData }) => fileData)) {
    throw unsupported(
      `${param}.content`,
      "Gemini accepts media in tool results only as data URLs. Use data URLs (data:image/png;base64,…).",
    );
  }
  return [{ functionResponse: { id, name, response, parts: media } }];
}

type Conversation = { calledFunctions: CalledFunctions; traits: ModelTraits; jsonTexts: ValueCount };

/** Gemini requires an object. The gateway parses JSON, so that the model sees fields instead of a string. */
function toResponse(text: string, jsonTexts: ValueCount): Record<string, unknown> {
  const mayBeJson = text.length <= jsonCharactersMax && /^\s*[{[]/.test(text);
  const value = mayBeJson ? parseShallowJson(text, jsonTexts, jsonDepthMax, parseExact) : undefined;
  // Integers above 53 bits, such as IDs, survive only as text.
  const parsed = value === undefined || /(?<!\d)\d{16}/.test(text) ? undefined : value;
  if (isObject(parsed)) return parsed;
  return { result: Array.isArray(parsed) ? parsed : text };
}

/** Longer texts stay text, because parsing them could block other requests. */
const jsonCharactersMax = 4_000_000;

/** The functions that the model called. A result contains the call's ID, but Gemini needs the function's name. */
class CalledFunctions {
  readonly #names = new Map<string, string>();

  note(message: ChatMessage): void {
    const calls = message["tool_calls"];
    if (!Array.isArray(calls)) return;
    for (const call of calls as unknown[]) {
      if (!isObject(call) || !isObject(call["function"])) continue;
      const { id, function: called } = call;
      if (typeof id !== "string" || typeof called["name"] !== "string") continue;
      this.#names.set(id, called["name"].slice(0, nameLengthMax));
    }
  }

  nameOf(callId: string): string | null {
    return this.#names.get(callId) ?? null;
  }
}

/** Limits the size of the request, because every result repeats the name. Gemini's own limit is lower. */
const nameLengthMax = 1_024;

function toModelParts(
  message: ChatMessage,
  param: string,
  traits: ModelTraits,
  jsonTexts: ValueCount,
): GeminiPart[] {
  if (isObject(message["audio"]))
    throw unsupported(`${param}.audio`, "Gemini does not store earlier audio. Remove the field.");
  const signatures = new ThoughtSignatures(message);
  const refusal = typeof message["refusal"] === "string" ? message["refusal"] : "";
  const texts = [...toTextParts(message.content, `${param}.content`), ...toTextParts(refusal, param)];
  const lastText = texts.at(-1);
  if (lastText && signatures.ofText !== null) lastText.thoughtSignature = signatures.ofText;
  const images = imageUrlsIn(message["images"]).map((url, index) =>
    toMediaPart(url, `${param}.images[${index}].image_url.url`),
  );
  if (traits.needsSignatures) for (const image of images) image.thoughtSignature = skippedSignature;
  return [...texts, ...images, ...toCallParts(message, param, { signatures, traits, jsonTexts })];
}

type TurnContext = { signatures: ThoughtSignatures; traits: ModelTraits; jsonTexts: ValueCount };

/** Gemini signs only the first of parallel calls. */
function toCallParts(
  message: ChatMessage,
  param: string,
  { signatures, traits, jsonTexts }: TurnContext,
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
  if (!isObject(call["function"]))
    throw unsupported(param, "Gemini supports only function calls. Remove the tool call.");
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
  if (typeof (json ?? "") !== "string") throw invalidValue(`${param}.arguments`, "must be a string");
  return { name, args: parseArguments(String(json ?? ""), jsonTexts, jsonDepthMax) };
}

/** Google's own depth limit for arguments and results is slightly higher. */
const jsonDepthMax = 64;
