import { createHash } from "node:crypto";
import type { ChatMessage, ChatRequestBody } from "../../wire/chat-completion.ts";
import { countJsonTexts, parseArguments } from "../../wire/parse-shallow-object.ts";
import {
  unsupported,
  unsupportedValue,
  expectArray,
  expectObject,
  expectString,
  ifGiven,
  invalidValue,
} from "../../wire/parameter-errors.ts";
import type {
  ContentBlock,
  ConverseMessage,
  SystemBlock,
  CachePointBlock,
  MediaBlock,
  TextBlock,
} from "./converse-request.ts";
import { cachePointAfter, type ModelFamily } from "./model-family.ts";
import type { Dropped } from "../requested-thinking.ts";
import { toReasoningBlocks } from "./reasoning-details.ts";
import type { ValueCount } from "../../wire/json.ts";
import { addTurn, append } from "../add-turn.ts";
import { parseDataUrl } from "../parse-data-url.ts";

/** Converse requires alternating turns, so consecutive messages of one role become one turn. */
export function toConverseMessages(
  messages: ChatMessage[],
  family: ModelFamily,
): { system: SystemBlock[]; messages: ConverseMessage[] } {
  const conversation = { family, documentNames: new DocumentNames(), jsonTexts: countJsonTexts() };
  const system: SystemBlock[] = [];
  const turns: ConverseMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    switch (message.role) {
      case "system":
      case "developer":
        append(system, toTextBlocks(message, param, conversation));
        break;
      case "user":
        addTurn(turns, { role: "user", content: toContentBlocks(message, param, conversation) });
        break;
      case "assistant":
        addTurn(turns, { role: "assistant", content: toAssistantBlocks(message, param, conversation) });
        break;
      case "tool":
        addTurn(turns, { role: "user", content: toToolResult(message, param, conversation) });
        break;
      case "function":
        throw unsupportedValue(
          `${param}.role`,
          'models on Bedrock have no such role. Use the role "tool" with a tool_call_id.',
          message.role,
        );
    }
  }
  // Converse requires a message, so instructions alone, or else a placeholder, become the user's message.
  if (turns.length === 0) {
    const content = system.length > 0 ? system : [{ text: "(empty)" }];
    return { system: [], messages: [{ role: "user", content }] };
  }
  // Without the blank question at its end, the conversation would ask the model to continue its last answer.
  if (turns.at(-1)?.role === "assistant" && messages.at(-1)?.role === "user")
    turns.push({ role: "user", content: [{ text: "(empty)" }] });
  return { system, messages: turns.map(withTextBesideDocument) };
}

/** A document needs a text. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html */
function withTextBesideDocument(turn: ConverseMessage): ConverseMessage {
  const hasDocument = turn.content.some((block) => "document" in block);
  if (!hasDocument || turn.content.some((block) => "text" in block)) return turn;
  return { ...turn, content: [{ text: "See the document." }, ...turn.content] };
}

/**
 * Puts a cache point after the last block for a top-level `cache_control`.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#automatic-caching
 */
export function markEnd(
  body: ChatRequestBody,
  messages: ConverseMessage[],
  family: ModelFamily,
  dropped: Dropped,
): void {
  if (body["cache_control"] === undefined || body["cache_control"] === null) return;
  const [point] = cachePointAfter(body, family);
  const last = messages.at(-1)?.content;
  if (point === undefined || last === undefined) dropped.add("cache_control");
  else if (!("cachePoint" in (last.at(-1) ?? {}))) last.push(point);
}

/** A cache point follows the result, because a result cannot contain one. */
function toToolResult(message: ChatMessage, param: string, conversation: Conversation): ContentBlock[] {
  const blocks = toContentBlocks(message, param, conversation);
  const cachePoints = blocks.filter((block) => "cachePoint" in block).slice(0, 1);
  const content = blocks.filter((block) => !("cachePoint" in block));
  return [
    {
      toolResult: {
        toolUseId: toToolUseId(message["tool_call_id"], `${param}.tool_call_id`, conversation.family),
        // Bedrock rejects a blank result.
        content: content.length === 0 ? [{ text: "(empty)" }] : content,
      },
    },
    ...cachePoints,
  ];
}

/** Puts reasoning before text and calls, because Claude requires this order. */
function toAssistantBlocks(message: ChatMessage, param: string, conversation: Conversation): ContentBlock[] {
  if (message["function_call"] !== undefined && message["function_call"] !== null) {
    throw unsupported(
      `${param}.function_call`,
      "models on Bedrock accept only tool calls. Use tool_calls instead.",
    );
  }
  const blocks: ContentBlock[] = [
    ...toTextBlocks(message, param, conversation),
    ...unlessBlank(ifGiven(message["refusal"], `${param}.refusal`, expectString) ?? ""),
    ...toToolUses(message["tool_calls"], `${param}.tool_calls`, conversation),
  ];
  // Bedrock rejects a turn with only reasoning.
  return blocks.length === 0
    ? []
    : [...toReasoningBlocks(message["reasoning_details"], conversation.family), ...blocks];
}

function toToolUses(calls: unknown, param: string, { family, jsonTexts }: Conversation): ContentBlock[] {
  return (ifGiven(calls, param, expectArray) ?? []).flatMap((value, index): ContentBlock[] => {
    const callParam = `${param}[${index}]`;
    const call = expectObject(value, callParam);
    if (call["type"] !== undefined && call["type"] !== "function") {
      throw unsupportedValue(
        `${callParam}.type`,
        "models on Bedrock support only function tools. Remove the tool call.",
        call["type"],
      );
    }
    const called = expectObject(call["function"], `${callParam}.function`);
    const use = {
      toolUse: {
        toolUseId: toToolUseId(call["id"], `${callParam}.id`, family),
        name: expectString(called["name"], `${callParam}.function.name`),
        input: parseArguments(
          expectString(called["arguments"], `${callParam}.function.arguments`),
          jsonTexts,
        ),
      },
    };
    return [use, ...cachePointAfter(call, family)];
  });
}

/** Hashes an invalid ID, for a call and its result alike. Even Bedrock's Kimi sends `functions.get_weather:0`. */
function toToolUseId(id: unknown, param: string, { name }: ModelFamily): string {
  const text = expectString(id, param);
  const isTaken = (name === "mistral" ? mistralToolUseId : toolUseId).test(text);
  return isTaken ? text : createHash("sha256").update(text).digest("hex").slice(0, 9);
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html */
const toolUseId = /^[a-zA-Z0-9_-]{1,64}$/;

/** Mistral's chat template rejects all other IDs. */
const mistralToolUseId = /^[a-zA-Z0-9]{9}$/;

type Conversation = { family: ModelFamily; documentNames: DocumentNames; jsonTexts: ValueCount };

type Part = Record<string, unknown>;

function toContentBlocks(
  message: ChatMessage,
  param: string,
  conversation: Conversation,
): (TextBlock | MediaBlock | CachePointBlock)[] {
  return eachPart<TextBlock | MediaBlock>(message, param, conversation, (part, partParam) => {
    switch (part["type"]) {
      case "image_url":
      case "video_url":
        return [toPictureBlock(part, part["type"], partParam)];
      case "file":
        return [toFileBlock(part, partParam, conversation.documentNames)];
      case "input_audio":
        // A tool result cannot contain audio.
        if (message.role === "user") return [toAudioBlock(part, partParam)];
        break;
    }
    return textOf(part, partParam);
  });
}

function toTextBlocks(
  message: ChatMessage,
  param: string,
  conversation: Conversation,
): (TextBlock | CachePointBlock)[] {
  return eachPart(message, param, conversation, textOf);
}

/** Omits blank text, because Bedrock rejects it. */
function unlessBlank(text: string): TextBlock[] {
  return text.trim() === "" ? [] : [{ text }];
}

function textOf(part: Part, param: string): TextBlock[] {
  const { type } = part;
  if (type === "text" || type === "refusal") return unlessBlank(expectString(part[type], `${param}.${type}`));
  const quoted = String(JSON.stringify(type)).slice(0, 66);
  throw unsupported(param, `models on Bedrock do not accept parts of type ${quoted} here. Remove the part.`);
}

function eachPart<Block extends object>(
  message: ChatMessage,
  param: string,
  { family }: Conversation,
  toBlocks: (part: Part, param: string) => Block[],
): (Block | TextBlock | CachePointBlock)[] {
  const { content } = message;
  if (!Array.isArray(content)) return withCachePoint(unlessBlank(content ?? ""), message, family);
  const blocks = content.flatMap((value: unknown, index) => {
    const partParam = `${param}.content[${index}]`;
    const part = expectObject(value, partParam);
    return withCachePoint(toBlocks(part, partParam), part, family);
  });
  return withCachePoint(blocks, message, family);
}

function withCachePoint<Block>(
  blocks: Block[],
  holder: Record<string, unknown>,
  family: ModelFamily,
): (Block | CachePointBlock)[] {
  return blocks.length === 0 ? [] : [...blocks, ...cachePointAfter(holder, family)];
}

/** @param name the member with the data URL: `image_url` or, in OpenRouter's format, `video_url` */
function toPictureBlock(part: Part, name: "image_url" | "video_url", param: string): MediaBlock {
  const urlParam = `${param}.${name}.url`;
  const url = expectString(expectObject(part[name], `${param}.${name}`)["url"], urlParam);
  const { mediaType, bytes } = readDataUrl(url, urlParam);
  const block = toVisualBlock(mediaType, bytes);
  if (block) return block;
  throw unsupportedValue(
    urlParam,
    `Bedrock does not accept this media type. Use one of ${[...imageFormats.keys(), ...videoFormats.keys()].join(", ")}.`,
    mediaType,
  );
}

function toFileBlock(part: Part, param: string, names: DocumentNames): MediaBlock {
  const file = expectObject(part["file"], `${param}.file`);
  if (file["file_data"] === undefined && file["file_id"] !== undefined) {
    throw unsupported(
      `${param}.file.file_id`,
      "Bedrock does not store files. Send the file itself as file_data.",
    );
  }
  const dataParam = `${param}.file.file_data`;
  const data = expectString(file["file_data"], dataParam);
  const filename = ifGiven(file["filename"], `${param}.file.filename`, expectString) ?? "";
  const isUrl = /^[a-z]+:/i.test(data);
  const { mediaType, bytes } = isUrl ? readDataUrl(data, dataParam) : { mediaType: "", bytes: data };
  const block = toVisualBlock(mediaType, bytes);
  if (block) return block;
  const format = documentFormatOf(mediaType, filename);
  if (format === null) {
    throw unsupportedValue(
      dataParam,
      `Bedrock does not accept this type of document. Use one of ${[...documentFormats.values()].join(", ")}.`,
      mediaType || undefined,
    );
  }
  return { document: { format, name: names.choose(filename), source: { bytes } } };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_AudioBlock.html */
function toAudioBlock(part: Part, param: string): MediaBlock {
  const audio = expectObject(part["input_audio"], `${param}.input_audio`);
  const format = expectString(audio["format"], `${param}.input_audio.format`);
  const bytes = expectString(audio["data"], `${param}.input_audio.data`);
  return { audio: { format, source: { bytes } } };
}

function readDataUrl(url: string, param: string): { mediaType: string; bytes: string } {
  const data = parseDataUrl(url);
  if (data?.base64) return { mediaType: data.mediaType, bytes: data.base64 };
  if (/^data:/i.test(url)) {
    throw invalidValue(param, "must be a base64 data URL (data:image/png;base64,…)");
  }
  throw unsupported(param, "Bedrock does not fetch URLs. Use a data URL (data:image/png;base64,…).");
}

function toVisualBlock(mediaType: string, bytes: string): MediaBlock | null {
  const image = imageFormats.get(mediaType);
  if (image !== undefined) return { image: { format: image, source: { bytes } } };
  const video = videoFormats.get(mediaType);
  return video === undefined ? null : { video: { format: video, source: { bytes } } };
}

/** Returns Bedrock's document format, which is a file extension. A known media type overrides the filename. */
function documentFormatOf(mediaType: string, filename: string): string | null {
  const extension = filename.slice(filename.lastIndexOf(".") + 1).toLowerCase();
  const byExtension = [...documentFormats.values()].includes(extension) ? extension : null;
  return documentFormats.get(mediaType) ?? byExtension;
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html */
const imageFormats = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/jpg", "jpeg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_VideoBlock.html */
const videoFormats = new Map([
  ["video/mp4", "mp4"],
  ["video/webm", "webm"],
  ["video/mpeg", "mpeg"],
  ["video/quicktime", "mov"],
  ["video/x-matroska", "mkv"],
  ["video/x-flv", "flv"],
  ["video/x-ms-wmv", "wmv"],
  ["video/3gpp", "three_gp"],
]);

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html */
const documentFormats = new Map([
  ["application/pdf", "pdf"],
  ["text/plain", "txt"],
  ["text/markdown", "md"],
  ["text/html", "html"],
  ["text/csv", "csv"],
  ["application/msword", "doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
]);

/** Creates unique names for a request's documents, in characters that Bedrock accepts. */
class DocumentNames {
  readonly #taken = new Set<string>();
  /** The last number used for each base name. */
  readonly #numbers = new Map<string, number>();

  choose(filename: string): string {
    const words = toWords(filename);
    let number = this.#numbers.get(words.toLowerCase()) ?? 0;
    let name: string;
    do {
      number++;
      name = number === 1 ? words : `${words} ${number}`;
    } while (this.#taken.has(name.toLowerCase()));
    this.#numbers.set(words.toLowerCase(), number);
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

function toWords(filename: string): string {
  const words = filename
    .slice(-filenameLengthMax)
    .replace(/\.\w{1,5}$/, "")
    .replaceAll(/[^a-zA-Z0-9()[\]-]+/g, " ")
    .trim();
  return words.slice(0, wordsLengthMax).trimEnd() || "document";
}

/** Common file systems have lower limits. */
const filenameLengthMax = 1_024;

/** Bedrock accepts names of up to 200 characters. Ten are reserved for a number. */
const wordsLengthMax = 190;
