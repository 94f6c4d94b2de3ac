import { type ChatMessage, imageUrlsIn } from "../../wire/chat-completion.ts";
import { parseExact } from "../../wire/exact-numbers.ts";
import { isObject, textOf, type ValueCount } from "../../wire/json.ts";
import { countJsonTexts, parseShallowJson, parseArguments } from "../../wire/parse-shallow-object.ts";
import type { ModelTraits } from "./model-traits.ts";
import { unsupported, invalidValue, unsupportedValue } from "../../wire/parameter-errors.ts";
import { skippedSignature, ThoughtSignatures } from "./thought-signatures.ts";
import { parseDataUrl } from "../parse-data-url.ts";

/** https://ai.google.dev/api/caching#Content */
export function toGeminiContents(messages: ChatMessage[], traits: ModelTraits): GeminiConversation {
  const instructions: GeminiPart[][] = [];
  const turns: Turn[] = [];
  const conversation = { traits, calledNames: new Map<string, string>(), jsonTexts: countJsonTexts() };
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    switch (message.role) {
      case "system":
      case "developer":
        instructions.push(toParts(message.content, `${param}.content`, toTextPart));
        break;
      case "user":
        turns.push({ by: "user", parts: toParts(message.content, `${param}.content`, toUserPart) });
        break;
      case "assistant":
        turns.push({ by: "model", parts: toModelParts(message, param, conversation) });
        break;
      case "tool":
      case "function":
        turns.push({ by: "functions", parts: toResultParts(message, param, conversation) });
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

type GeminiConversation = { systemInstruction?: { parts: GeminiPart[] }; contents: GeminiContent[] };

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
function toResultParts(message: ChatMessage, param: string, conversation: Conversation): GeminiPart[] {
  const { calledNames, traits, jsonTexts } = conversation;
  const id = typeof message["tool_call_id"] === "string" ? message["tool_call_id"] : undefined;
  const name = (id === undefined ? undefined : calledNames.get(id)) ?? message["name"];
  if (typeof name !== "string") {
    throw invalidValue(`${param}.tool_call_id`, "must be the ID of an earlier tool call");
  }
  const parts = toParts(message.content, `${param}.content`, toUserPart);
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

type Conversation = {
  traits: ModelTraits;
  /** The names of the called functions, by call ID. A result contains only the ID, but Gemini needs the name. */
  calledNames: Map<string, string>;
  jsonTexts: ValueCount;
};

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

/** Limits the size of the request, because every result repeats the name. Gemini's own limit is lower. */
const nameLengthMax = 1_024;

function toModelParts(message: ChatMessage, param: string, conversation: Conversation): GeminiPart[] {
  if (isObject(message["audio"]))
    throw unsupported(`${param}.audio`, "Gemini does not store earlier audio. Remove the field.");
  const { needsSignatures } = conversation.traits;
  const signatures = new ThoughtSignatures(message);
  const texts = [
    ...toParts(message.content, `${param}.content`, toTextPart),
    ...toParts(textOf(message["refusal"]), param, toTextPart),
  ];
  const lastText = texts.at(-1);
  if (lastText && signatures.ofText !== null) lastText.thoughtSignature = signatures.ofText;
  const images = imageUrlsIn(message["images"]).map((url, index) =>
    toMediaPart(url, `${param}.images[${index}].image_url.url`),
  );
  if (needsSignatures) for (const image of images) image.thoughtSignature = skippedSignature;
  const calls = toCallParts(message, param, signatures, conversation);
  // Gemini signs only the first of parallel calls.
  const [first] = calls;
  if (first && needsSignatures) first.thoughtSignature ??= skippedSignature;
  return [...texts, ...images, ...calls];
}

function toCallParts(
  { tool_calls: calls, function_call: only }: ChatMessage,
  param: string,
  signatures: ThoughtSignatures,
  conversation: Conversation,
): GeminiPart[] {
  if (Array.isArray(calls)) {
    return calls.map((call: unknown, index) =>
      toCallPart(call, `${param}.tool_calls[${index}]`, signatures, conversation),
    );
  }
  if (!isObject(only)) return [];
  return [{ functionCall: toFunctionCall(only, `${param}.function_call`, conversation.jsonTexts) }];
}

function toCallPart(
  call: unknown,
  param: string,
  signatures: ThoughtSignatures,
  { calledNames, jsonTexts }: Conversation,
): GeminiPart {
  if (!isObject(call)) throw invalidValue(param, "must be an object");
  if (!isObject(call["function"]))
    throw unsupported(param, "Gemini supports only function calls. Remove the tool call.");
  const id = typeof call["id"] === "string" ? call["id"] : undefined;
  const called = toFunctionCall(call["function"], `${param}.function`, jsonTexts);
  if (id !== undefined) calledNames.set(id, called.name.slice(0, nameLengthMax));
  const functionCall = { id, ...called };
  const signature = signatures.ofCall(call);
  return signature === null ? { functionCall } : { functionCall, thoughtSignature: signature };
}

function toFunctionCall(
  { name, arguments: json }: Record<string, unknown>,
  param: string,
  jsonTexts: ValueCount,
): { name: string; args: object } {
  if (typeof name !== "string") throw invalidValue(`${param}.name`, "must be a string");
  if (typeof (json ?? "") !== "string") throw invalidValue(`${param}.arguments`, "must be a string");
  return { name, args: parseArguments(String(json ?? ""), jsonTexts, jsonDepthMax) };
}

/** Google's own depth limit for arguments and results is slightly higher. */
const jsonDepthMax = 64;

/** https://ai.google.dev/api/caching#Part */
type GeminiPart = {
  text?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { fileUri: string; mimeType?: string };
  functionCall?: object;
  functionResponse?: object;
  thoughtSignature?: string;
};

/** Omits empty texts, which Gemini rejects. */
function toParts(content: unknown, param: string, toPart: typeof toTextPart): GeminiPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (!Array.isArray(content)) return [];
  const parts = content.map((part: unknown, index) => {
    if (!isObject(part)) throw invalidValue(`${param}[${index}]`, "must be an object");
    return toPart(part, `${param}[${index}]`);
  });
  return parts.filter(({ text }) => text !== "");
}

function toTextPart(part: Record<string, unknown>, param: string): GeminiPart {
  const name = part["type"] === "refusal" ? "refusal" : "text";
  if (part["type"] !== name)
    throw unsupportedValue(`${param}.type`, "Gemini accepts only text here. Remove the part.", part["type"]);
  const text = part[name];
  if (typeof text !== "string") throw invalidValue(`${param}.${name}`, "must be a string");
  return { text };
}

function toUserPart(part: Record<string, unknown>, param: string): GeminiPart {
  switch (part["type"]) {
    case "text":
      return toTextPart(part, param);
    case "image_url":
      return toMediaPart(objectIn(part, "image_url", param)["url"], `${param}.image_url.url`);
    case "video_url":
      return toMediaPart(objectIn(part, "video_url", param)["url"], `${param}.video_url.url`);
    case "input_audio":
      return toAudioPart(objectIn(part, "input_audio", param), `${param}.input_audio`);
    case "file":
      return toFilePart(objectIn(part, "file", param), `${param}.file`);
    default:
      throw unsupportedValue(
        `${param}.type`,
        "Gemini accepts only text, images, audio, video and files. Remove the part.",
        part["type"],
      );
  }
}

function objectIn(part: Record<string, unknown>, name: string, param: string): Record<string, unknown> {
  const value = part[name];
  if (!isObject(value)) throw invalidValue(`${param}.${name}`, "must be an object");
  return value;
}

/**
 * Converts a data URL to inline data. Google fetches other URLs: public web pages, YouTube and Google's own
 * file store. https://ai.google.dev/gemini-api/docs/file-input-methods
 */
function toMediaPart(url: unknown, param: string): GeminiPart {
  if (typeof url !== "string") throw invalidValue(param, "must be a string");
  if (/^data:/i.test(url)) {
    const data = parseDataUrl(url);
    const text = data?.base64 === null ? data.text() : null;
    const base64 = data?.base64 ?? (text === null ? null : Buffer.from(text).toString("base64"));
    if (data === null || base64 === null) throw invalidValue(param, "must be a complete data URL");
    return { inlineData: { mimeType: data.mediaType, data: base64 } };
  }
  if (!/^https?:\/\//i.test(url))
    throw unsupportedValue(
      param,
      "Gemini accepts only data URLs and web URLs. Use one that starts with data:, http:// or https://.",
    );
  // `mimeType` is optional. A missing MIME type is better than a wrong guess.
  const mimeType = mediaTypeOf(url);
  return { fileData: { fileUri: url, ...(mimeType !== null && { mimeType }) } };
}

function toAudioPart({ data, format }: Record<string, unknown>, param: string): GeminiPart {
  if (typeof data !== "string") throw invalidValue(`${param}.data`, "must be a string");
  if (typeof format !== "string" || !audioFormats.includes(format)) {
    throw unsupportedValue(
      `${param}.format`,
      `Gemini does not read this audio format. Use one of ${audioFormats.join(", ")}.`,
      format,
    );
  }
  return { inlineData: { mimeType: `audio/${format}`, data } };
}

/** A `file_id` must be a URL, such as a URL of Google's file store. OpenAI's file IDs are rejected. */
function toFilePart(file: Record<string, unknown>, param: string): GeminiPart {
  const name = ["file_data", "file_url", "file_id"].find((field) => typeof file[field] === "string");
  if (name === undefined) throw invalidValue(param, "must contain file_data");
  return toMediaPart(file[name], `${param}.${name}`);
}

/** https://ai.google.dev/gemini-api/docs/audio#supported-formats */
const audioFormats = ["wav", "mp3", "aiff", "aac", "ogg", "flac"];

function mediaTypeOf(url: string): string | null {
  const path = url.replace(/[?#].*$/s, "");
  const ending = /\.(\w{2,5})$/.exec(path)?.[1]?.toLowerCase();
  return (ending !== undefined && types.get(ending)) || null;
}

/** By the URL's ending. https://ai.google.dev/gemini-api/docs/file-input-methods#supported-content-types */
const types = new Map<string, string>([
  ...["png", "jpeg", "webp", "heic", "heif", "bmp"].map(toTypes("image")),
  ...["pdf", "json"].map(toTypes("application")),
  ...["html", "css", "csv", "xml"].map(toTypes("text")),
  ...["mp4", "mpeg", "mpg", "mov", "avi", "webm", "wmv"].map(toTypes("video")),
  ...audioFormats.map(toTypes("audio")),
  ["jpg", "image/jpeg"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["flv", "video/x-flv"],
  ["3gp", "video/3gpp"],
]);

function toTypes(kind: string) {
  return (ending: string) => [ending, `${kind}/${ending}`] as const;
}
