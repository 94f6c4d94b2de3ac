import type { ChatMessage, ContentPart } from "../../wire/chat-completion.ts";
import { type ValueCount, isObject } from "../../wire/json.ts";
import { countJsonTexts, parseArguments } from "../../wire/parse-shallow-object.ts";
import {
  unsupported,
  unsupportedValue,
  expectString,
  expectArray,
  expectObject,
  ifGiven,
  invalidType,
  invalidValue,
} from "../../wire/parameter-errors.ts";
import type {
  AnthropicMessage,
  TextBlock,
  ToolResultBlock,
  ContentBlock,
  ToolUseBlock,
  Base64Source,
  DocumentBlock,
  ImageBlock,
  Cacheable,
} from "./anthropic-message.ts";
import { toThoughts, isThought } from "./reasoning-details.ts";
import { addTurn, append } from "../add-turn.ts";
import { type DataUrl, parseDataUrl } from "../parse-data-url.ts";

/**
 * Moves instructions from any position to `system`, like Anthropic's OpenAI-compatible API. Other messages
 * become alternating turns, and tool messages belong to the user's turns.
 * https://platform.claude.com/docs/en/api/openai-sdk
 */
export function toAnthropicMessages(chat: ChatMessage[]): {
  system: TextBlock[];
  messages: AnthropicMessage[];
} {
  const system: TextBlock[] = [];
  const messages: AnthropicMessage[] = [];
  const jsonTexts = countJsonTexts();
  for (const [index, message] of chat.entries()) {
    const param = `messages[${index}]`;
    if (message.role === "system" || message.role === "developer") {
      append(system, withCacheControl(toTextBlocks(message.content, `${param}.content`), message, param));
      continue;
    }
    addTurn(messages, toTurn(message, param, jsonTexts));
  }
  // Claude requires a message, so instructions alone become a user message.
  if (messages.length === 0 && system.length > 0) {
    return { system: [], messages: [{ role: "user", content: system }] };
  }
  // Without the blank question at its end, the conversation would ask Claude to continue its last answer.
  if (messages.at(-1)?.role !== "user" && chat.at(-1)?.role === "user")
    messages.push({ role: "user", content: [{ type: "text", text: "(empty)" }] });
  trimBeginning(messages.at(-1));
  return { system, messages };
}

function toTurn(message: ChatMessage, param: string, jsonTexts: ValueCount): AnthropicMessage {
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        content: withCacheControl(toAssistantBlocks(message, param, jsonTexts), message, param),
      };
    case "tool":
      return { role: "user", content: [toToolResult(message, param)] };
    case "user": {
      const content = toAnthropicContent(message.content, `${param}.content`);
      return { role: "user", content: withCacheControl(content, message, param) };
    }
    default:
      throw unsupportedValue(
        `${param}.role`,
        'Claude has no such role. Use the role "tool" with a tool_call_id.',
        message.role,
      );
  }
}

function toToolResult(message: ChatMessage, param: string): ToolResultBlock {
  const content = toAnthropicContent(message.content, `${param}.content`);
  return {
    type: "tool_result",
    tool_use_id: toToolUseId(expectString(message["tool_call_id"], `${param}.tool_call_id`)),
    content: content.length > 0 ? content : undefined,
    cache_control: toCacheControl(message, param),
  };
}

/** Trims a prefilled answer, because the API answers 400 to trailing whitespace. */
function trimBeginning(last: AnthropicMessage | undefined): void {
  const block = last?.role === "assistant" ? last.content.at(-1) : undefined;
  if (block?.type === "text") block.text = block.text.trimEnd();
}

/** Thinking blocks go to their indexes, but precede the last block: a turn must not end with thinking. */
export function toAssistantBlocks(
  message: ChatMessage,
  param: string,
  jsonTexts: ValueCount,
): ContentBlock[] {
  for (const field of ["function_call", "audio"]) {
    if (message[field] !== undefined && message[field] !== null) {
      throw unsupported(`${param}.${field}`, "Claude has no equivalent. Remove the field.");
    }
  }
  const textBlocks = toTextBlocks(message.content, `${param}.content`);
  const refusal = ifGiven(message["refusal"], `${param}.refusal`, expectString);
  const calls = ifGiven(message["tool_calls"], `${param}.tool_calls`, expectArray) ?? [];
  const shown: ContentBlock[] = [
    ...(textBlocks.length > 0 ? textBlocks : toTextBlocks(refusal, `${param}.refusal`)),
    ...calls.map((call, index) => toToolUse(call, `${param}.tool_calls[${index}]`, jsonTexts)),
  ];
  if (shown.length === 0) return [];
  const blocks: ContentBlock[] = [];
  const thoughts = toThoughts(message["reasoning_details"]);
  for (const [count, { index, block }] of thoughts.entries()) {
    const position = Math.min(index, shown.length + count - 1);
    for (const before of shown.slice(blocks.length - count, position - count)) blocks.push(before);
    blocks.push(block);
  }
  return [...blocks, ...shown.slice(blocks.length - thoughts.length)];
}

function toToolUse(value: unknown, param: string, jsonTexts: ValueCount): ToolUseBlock {
  const call = expectObject(value, param);
  if (call["type"] === "custom")
    throw unsupportedValue(
      `${param}.type`,
      "Claude supports only function tools. Remove the tool call.",
      call["type"],
    );
  const { name, arguments: args } = expectObject(call["function"], `${param}.function`);
  return {
    type: "tool_use",
    id: toToolUseId(expectString(call["id"], `${param}.id`)),
    name: expectString(name, `${param}.function.name`),
    input: parseArguments(expectString(args, `${param}.function.arguments`), jsonTexts),
    cache_control: toCacheControl(call, param),
  };
}

/** Replaces characters that Anthropic rejects. Other providers' IDs in a conversation may contain them. */
function toToolUseId(id: string): string {
  return id.slice(0, idLengthMax).replaceAll(/[^\w-]/g, "_");
}

/** The API rejects longer IDs. Known providers' IDs are shorter. */
const idLengthMax = 1_024;

function toAnthropicContent(content: ChatMessage["content"], param: string): ContentBlock[] {
  return toParts(content, param).flatMap(({ part, at }): ContentBlock[] => {
    switch (part.type) {
      case "text":
        return toTextBlock(part, at, "text");
      case "image_url":
        return [{ ...toImageBlock(part, at), cache_control: toCacheControl(part, at) }];
      case "file":
        return [{ ...toFileBlock(part, at), cache_control: toCacheControl(part, at) }];
      default:
        throw unsupported(
          at,
          `Claude cannot read parts of type "${part.type.slice(0, 64)}". Remove the part.`,
        );
    }
  });
}

/** Converts text-only content: instructions and earlier answers, including refusals. Throws for other parts. */
function toTextBlocks(content: ChatMessage["content"], param: string): TextBlock[] {
  return toParts(content, param).flatMap(({ part, at }) => {
    if (part.type === "text" || part.type === "refusal") return toTextBlock(part, at, part.type);
    throw unsupported(at, "Claude accepts only text here. Remove the part.");
  });
}

function toParts(content: ChatMessage["content"], param: string): { part: ContentPart; at: string }[] {
  if (typeof content === "string") return [{ part: { type: "text", text: content }, at: param }];
  const parts: unknown[] = content ?? [];
  return parts.map((part, index) => {
    const at = `${param}[${index}]`;
    if (!isObject(part)) throw invalidType(at, "an object", part);
    return { part: { ...part, type: expectString(part["type"], `${at}.type`) }, at };
  });
}

/** Omits blank text, because the API rejects it. */
function toTextBlock(part: ContentPart, at: string, field: "text" | "refusal"): TextBlock[] {
  const text = expectString(part[field], `${at}.${field}`);
  return text.trim() === "" ? [] : [{ type: "text", text, cache_control: toCacheControl(part, at) }];
}

/** https://platform.claude.com/docs/en/build-with-claude/pdf-support */
function toFileBlock(part: ContentPart, at: string): DocumentBlock | ImageBlock {
  const param = `${at}.file`;
  const file = expectObject(part["file"], param);
  if (ifGiven(file["file_id"], `${param}.file_id`, expectString) !== undefined) {
    throw unsupported(
      `${param}.file_id`,
      "the gateway does not store files. Send the file itself in file_data.",
    );
  }
  const dataParam = `${param}.file_data`;
  const fileData = expectString(file["file_data"], dataParam);
  const title = ifGiven(file["filename"], `${param}.filename`, expectString) || undefined;
  const data = parseDataUrl(fileData);
  if (data?.mediaType.startsWith("image/"))
    return { type: "image", source: toEmbeddedImage(data, dataParam) };
  return { type: "document", source: toSource(fileData, dataParam), title };
}

function toSource(fileData: string, param: string): DocumentBlock["source"] {
  if (/^https:\/\//i.test(fileData)) return { type: "url", url: fileData };
  const data = parseDataUrl(fileData);
  // Bare base64 counts as a PDF, the usual file type.
  if (data === null) return { type: "base64", media_type: pdf, data: fileData };
  if (data.mediaType === pdf && data.base64 !== null) {
    return { type: "base64", media_type: pdf, data: data.base64 };
  }
  if (!data.mediaType.startsWith("text/") && data.mediaType !== "application/json") {
    throw unsupportedValue(
      param,
      "Claude does not read this file type. Use a PDF, text or image file.",
      data.mediaType,
    );
  }
  const text = data.text();
  if (text === null) throw invalidValue(param, "must contain text in base64 or percent-encoding");
  return { type: "text", media_type: "text/plain", data: text };
}

const pdf = "application/pdf";

/** https://platform.claude.com/docs/en/build-with-claude/vision */
function toImageBlock(part: ContentPart, at: string): ImageBlock {
  const param = `${at}.image_url.url`;
  const url = expectString(expectObject(part["image_url"], `${at}.image_url`)["url"], param);
  const data = parseDataUrl(url);
  if (data) return { type: "image", source: toEmbeddedImage(data, param) };
  if (/^https:\/\//i.test(url)) return { type: "image", source: { type: "url", url } };
  throw invalidValue(param, "must be an https or data URL");
}

function toEmbeddedImage({ mediaType, base64 }: DataUrl, param: string): Base64Source {
  if (!imageTypes.has(mediaType))
    throw unsupportedValue(
      param,
      "Claude does not read this image type. Use JPEG, PNG, GIF or WebP.",
      mediaType,
    );
  if (base64 === null) throw invalidValue(param, "must contain an image in base64");
  return { type: "base64", media_type: mediaType, data: base64 };
}

const imageTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Reads the marker that ends a cached prefix. https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
export function toCacheControl(marked: Record<string, unknown>, param: string): Cacheable["cache_control"] {
  return ifGiven(marked["cache_control"], `${param}.cache_control`, expectObject);
}

/** Copies the message's cache marker to the last block if it has none. Thinking blocks cannot carry markers. */
function withCacheControl<B extends ContentBlock>(blocks: B[], message: ChatMessage, param: string): B[] {
  const marker = toCacheControl(message, param);
  const last: ContentBlock | undefined = blocks.at(-1);
  if (marker && last && !isThought(last)) last.cache_control ??= marker;
  return blocks;
}
