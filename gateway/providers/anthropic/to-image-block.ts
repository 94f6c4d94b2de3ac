import type { ContentPart } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectObject, expectString } from "../../wire/expect-type.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import type { Base64Source, ImageBlock, UrlSource } from "./messages-request.ts";
import { type DataUrl, parseDataUrl } from "../parse-data-url.ts";

/** https://platform.claude.com/docs/en/build-with-claude/vision */
export function toImageBlock(part: ContentPart, at: string): ImageBlock {
  const { url } = expectObject(part["image_url"], `${at}.image_url`);
  const param = `${at}.image_url.url`;
  return { type: "image", source: toSource(expectString(url, param), param) };
}

function toSource(url: string, param: string): UrlSource | Base64Source {
  const data = parseDataUrl(url);
  if (data) return toEmbeddedImage(data, param);
  if (/^https:\/\//i.test(url)) return { type: "url", url };
  throw invalidValue(param, "must be an https or a data URL");
}

export function toEmbeddedImage({ mediaType, base64 }: DataUrl, param: string): Base64Source {
  if (!imageTypes.has(mediaType)) throw unsupported(param, "Claude reads images as JPEG, PNG, GIF or WebP.");
  if (base64 === null) throw invalidValue(param, "must hold an image in base64");
  return { type: "base64", media_type: mediaType, data: base64 };
}

const imageTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
