import type { ChatMessage } from "../../wire/chat-completion.ts";
import {
  unsupported,
  unsupportedValue,
  expectObject,
  expectString,
  ifGiven,
  invalidValue,
} from "../../wire/parameter-errors.ts";
import type { ValueCount } from "../../wire/json.ts";
import { cachePointAfter, type ModelFamily } from "./model-family.ts";
import type { CachePointBlock, MediaBlock, TextBlock } from "./converse-request.ts";
import { parseDataUrl } from "../parse-data-url.ts";

export type Conversation = { family: ModelFamily; documentNames: DocumentNames; jsonTexts: ValueCount };

type Part = Record<string, unknown>;

export function toContentBlocks(
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

export function toTextBlocks(
  message: ChatMessage,
  param: string,
  conversation: Conversation,
): (TextBlock | CachePointBlock)[] {
  return eachPart(message, param, conversation, textOf);
}

/** Omits blank text, because Bedrock rejects it. */
export function unlessBlank(text: string): TextBlock[] {
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
function toPictureBlock(
  part: Record<string, unknown>,
  name: "image_url" | "video_url",
  param: string,
): MediaBlock {
  const urlParam = `${param}.${name}.url`;
  const url = expectString(expectObject(part[name], `${param}.${name}`)["url"], urlParam);
  const { mediaType, bytes } = readDataUrl(url, urlParam);
  const block = toVisualBlock(mediaType, bytes);
  if (block) return block;
  throw unsupportedValue(
    urlParam,
    `Bedrock does not accept this media type. Use one of ${list([...imageFormats.keys(), ...videoFormats.keys()])}.`,
    mediaType,
  );
}

function toFileBlock(part: Record<string, unknown>, param: string, names: DocumentNames): MediaBlock {
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
      `Bedrock does not accept this type of document. Use one of ${list([...documentFormats.values()])}.`,
      mediaType || undefined,
    );
  }
  return { document: { format, name: names.choose(filename), source: { bytes } } };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_AudioBlock.html */
function toAudioBlock(part: Record<string, unknown>, param: string): MediaBlock {
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

function list(names: string[]): string {
  return names.join(", ");
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

/**
 * Creates unique names for a request's documents, in characters that Bedrock accepts.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
 */
export class DocumentNames {
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
