import { isObject } from "../../wire/json.ts";
import { unsupportedValue, invalidValue } from "../../wire/parameter-errors.ts";
import { parseDataUrl } from "../parse-data-url.ts";

/** https://ai.google.dev/api/caching#Part */
export type GeminiPart = {
  text?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { fileUri: string; mimeType?: string };
  functionCall?: object;
  functionResponse?: object;
  thoughtSignature?: string;
};

/** @param content a string, an array of content parts, or nothing */
export function toUserParts(content: unknown, param: string): GeminiPart[] {
  return toParts(content, param, toUserPart);
}

export function toTextParts(content: unknown, param: string): GeminiPart[] {
  return toParts(content, param, toTextPart);
}

/** Omits empty texts, which Gemini rejects. */
function toParts(content: unknown, param: string, toPart: ToPart): GeminiPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (!Array.isArray(content)) return [];
  const parts = content.map((part: unknown, index) => {
    if (!isObject(part)) throw invalidValue(`${param}[${index}]`, "must be an object");
    return toPart(part, `${param}[${index}]`);
  });
  return parts.filter(({ text }) => text !== "");
}

type ToPart = (part: Record<string, unknown>, param: string) => GeminiPart;

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
export function toMediaPart(url: unknown, param: string): GeminiPart {
  if (typeof url !== "string") throw invalidValue(param, "must be a string");
  if (/^data:/i.test(url)) {
    const data = parseDataUrl(url);
    const base64 = data?.base64 ?? encode(data?.text() ?? null);
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

function encode(text: string | null): string | null {
  return text === null ? null : Buffer.from(text).toString("base64");
}

function mediaTypeOf(url: string): string | null {
  const path = url.replace(/[?#].*$/s, "");
  const ending = /\.(\w{2,5})$/.exec(path)?.[1]?.toLowerCase();
  return (ending !== undefined && types.get(ending)) || null;
}

/** https://ai.google.dev/gemini-api/docs/file-input-methods#supported-content-types */
const types = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["bmp", "image/bmp"],
  ["pdf", "application/pdf"],
  ["json", "application/json"],
  ["txt", "text/plain"],
  ["html", "text/html"],
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["xml", "text/xml"],
  ["md", "text/markdown"],
  ["mp4", "video/mp4"],
  ["mpeg", "video/mpeg"],
  ["mpg", "video/mpg"],
  ["mov", "video/mov"],
  ["avi", "video/avi"],
  ["flv", "video/x-flv"],
  ["webm", "video/webm"],
  ["wmv", "video/wmv"],
  ["3gp", "video/3gpp"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mp3"],
  ["aiff", "audio/aiff"],
  ["aac", "audio/aac"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
]);
