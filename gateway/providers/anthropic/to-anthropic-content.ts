import type { ChatMessage, ContentPart } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import {
  unsupported,
  unsupportedValue,
  expectObject,
  expectString,
  ifGiven,
  invalidType,
  invalidValue,
} from "../../wire/parameter-errors.ts";
import type {
  Base64Source,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
  TextBlock,
  UrlSource,
  CacheControl,
} from "./messages-request.ts";
import { type DataUrl, parseDataUrl } from "../parse-data-url.ts";
import { isThought } from "./reasoning-details.ts";

export function toAnthropicContent(content: ChatMessage["content"], param: string): ContentBlock[] {
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
export function toTextBlocks(content: ChatMessage["content"], param: string): TextBlock[] {
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
  const { url } = expectObject(part["image_url"], `${at}.image_url`);
  const param = `${at}.image_url.url`;
  return { type: "image", source: imageSource(expectString(url, param), param) };
}

function imageSource(url: string, param: string): UrlSource | Base64Source {
  const data = parseDataUrl(url);
  if (data) return toEmbeddedImage(data, param);
  if (/^https:\/\//i.test(url)) return { type: "url", url };
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

/**
 * Reads the marker that ends a cached prefix.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function toCacheControl(
  marked: { [field: string]: unknown },
  param: string,
): CacheControl | undefined {
  return ifGiven(marked["cache_control"], `${param}.cache_control`, expectObject);
}

/**
 * Copies the message's cache marker to the last block, unless the block has a marker. Thinking blocks cannot
 * carry markers.
 */
export function withCacheControl<B extends ContentBlock>(
  blocks: B[],
  message: { [field: string]: unknown },
  param: string,
): B[] {
  const marker = toCacheControl(message, param);
  const last: ContentBlock | undefined = blocks.at(-1);
  if (marker && last && !isThought(last)) last.cache_control ??= marker;
  return blocks;
}
