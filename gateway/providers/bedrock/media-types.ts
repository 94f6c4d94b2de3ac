import type { MediaBlock } from "./converse-request.ts";

/** The block for a picture or a film; null for every other type. */
export function toVisualBlock(mediaType: string, bytes: string): MediaBlock | null {
  const image = imageFormats.get(mediaType);
  if (image !== undefined) return { image: { format: image, source: { bytes } } };
  const video = videoFormats.get(mediaType);
  return video === undefined ? null : { video: { format: video, source: { bytes } } };
}

/** What Bedrock calls a document's type, which is its extension. */
export function documentFormatOf(mediaType: string, filename: string): string | null {
  const extension = filename.slice(filename.lastIndexOf(".") + 1).toLowerCase();
  const byExtension = [...documentFormats.values()].includes(extension) ? extension : null;
  return documentFormats.get(mediaType) ?? byExtension;
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html */
export const imageFormats = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/jpg", "jpeg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_VideoBlock.html */
export const videoFormats = new Map([
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
export const documentFormats = new Map([
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
