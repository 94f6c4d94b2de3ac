import type { ContentPart } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import type { DocumentBlock, ImageBlock } from "./messages-request.ts";
import { parseDataUrl } from "../parse-data-url.ts";
import { toEmbeddedImage } from "./to-image-block.ts";

/** A file as a document, or as the image that it is. https://platform.claude.com/docs/en/build-with-claude/pdf-support */
export function toFileBlock(part: ContentPart, at: string): DocumentBlock | ImageBlock {
  const param = `${at}.file`;
  const file = expectObject(part["file"], param);
  if (ifGiven(file["file_id"], `${param}.file_id`, expectString) !== undefined) {
    throw unsupported(`${param}.file_id`, "Send the file itself, in file_data.");
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
  // OpenAI's API takes PDF files only, so this is what bare base64 must be.
  if (data === null) return { type: "base64", media_type: pdf, data: fileData };
  if (data.mediaType === pdf && data.base64 !== null) {
    return { type: "base64", media_type: pdf, data: data.base64 };
  }
  if (!data.mediaType.startsWith("text/") && data.mediaType !== "application/json") {
    throw unsupported(param, "Claude reads files as PDF, text or images.");
  }
  const text = data.text();
  if (text === null) throw invalidValue(param, "must hold text in base64 or percent encoding");
  return { type: "text", media_type: "text/plain", data: text };
}

const pdf = "application/pdf";
