import { parseDataUrl } from "../parse-data-url.ts";
import { unsupported } from "../../wire/unsupported.ts";
import type { MediaBlock } from "./converse-request.ts";
import type { DocumentNames } from "./document-names.ts";
import { expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import {
  documentFormatOf,
  documentFormats,
  imageFormats,
  toVisualBlock,
  videoFormats,
} from "./media-types.ts";

/** @param name where the part has its data URL: in `image_url` or, as OpenRouter has it, `video_url` */
export function toPictureBlock(
  part: Record<string, unknown>,
  name: "image_url" | "video_url",
  param: string,
): MediaBlock {
  const urlParam = `${param}.${name}.url`;
  const url = expectString(expectObject(part[name], `${param}.${name}`)["url"], urlParam);
  const { mediaType, bytes } = readDataUrl(url, urlParam);
  const block = toVisualBlock(mediaType, bytes);
  if (block) return block;
  throw unsupported(urlParam, `Bedrock takes ${list([...imageFormats.keys(), ...videoFormats.keys()])}.`);
}

/** What is neither a picture nor a film is a document. */
export function toFileBlock(part: Record<string, unknown>, param: string, names: DocumentNames): MediaBlock {
  const file = expectObject(part["file"], `${param}.file`);
  if (file["file_data"] === undefined && file["file_id"] !== undefined) {
    throw unsupported(`${param}.file.file_id`, "Bedrock keeps no files; send the file itself as file_data.");
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
    throw unsupported(
      dataParam,
      `Bedrock takes documents of the types ${list([...documentFormats.values()])}.`,
    );
  }
  return { document: { format, name: names.choose(filename), source: { bytes } } };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_AudioBlock.html */
export function toAudioBlock(part: Record<string, unknown>, param: string): MediaBlock {
  const audio = expectObject(part["input_audio"], `${param}.input_audio`);
  const format = expectString(audio["format"], `${param}.input_audio.format`);
  const bytes = expectString(audio["data"], `${param}.input_audio.data`);
  return { audio: { format, source: { bytes } } };
}

function readDataUrl(url: string, param: string): { mediaType: string; bytes: string } {
  const data = parseDataUrl(url);
  if (data?.base64) return { mediaType: data.mediaType, bytes: data.base64 };
  if (/^data:/i.test(url)) {
    throw invalidValue(param, "must be a data URL in base64 (data:image/png;base64,…)");
  }
  throw unsupported(param, "Bedrock fetches nothing from the web; use a data URL (data:image/png;base64,…).");
}

function list(names: string[]): string {
  return names.join(", ");
}
