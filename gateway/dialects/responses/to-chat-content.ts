import type { ContentPart } from "../../wire/chat-completion.ts";
import {
  invalidType,
  expectArray,
  expectObject,
  expectString,
  ifGiven,
  unsupported,
} from "../../wire/parameter-errors.ts";

/**
 * Converts the content of an input message or a tool result. Text-only content becomes one string, because not
 * every upstream accepts a list of parts.
 */
export function toChatContent(content: unknown, param: string): string | ContentPart[] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidType(param, "a string or an array of content parts", content);
  const parts = content.map((part, index) => toChatPart(part, `${param}[${index}]`));
  const texts = parts.flatMap(({ type, text }) => (type === "text" ? String(text) : []));
  return texts.length === parts.length ? joinTexts(texts) : parts;
}

/** Converts the content of an earlier assistant message. */
export function toTextAndRefusal(content: unknown, param: string): { text: string; refusal: string } {
  if (typeof content === "string") return { text: content, refusal: "" };
  let text = "";
  let refusal = "";
  for (const [index, value] of expectArray(content, param).entries()) {
    const at = `${param}[${index}]`;
    const part = expectObject(value, at);
    if (part["type"] === "refusal") refusal += expectString(part["refusal"], `${at}.refusal`);
    else text += readText(part, at) ?? refuse(part, at);
  }
  return { text, refusal };
}

export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

function toChatPart(value: unknown, param: string): ContentPart {
  const part = expectObject(value, param);
  const text = readText(part, param);
  if (text !== null) return { type: "text", text };
  switch (part["type"]) {
    case "input_image":
      return toImagePart(part, param);
    case "input_file":
      return toFilePart(part, param);
    case "input_audio":
      return { type: "input_audio", input_audio: expectObject(part["input_audio"], `${param}.input_audio`) };
    default:
      return refuse(part, param);
  }
}

function readText(part: Record<string, unknown>, param: string): string | null {
  const type = expectString(part["type"], `${param}.type`);
  // Rejecting the part would end a conversation that began with an OpenAI model.
  if (type === "encrypted_content") return "[Encrypted by OpenAI, not readable by this model.]";
  return textTypes.has(type) ? expectString(part["text"], `${param}.text`) : null;
}

const textTypes = new Set(["input_text", "output_text", "text", "summary_text", "reasoning_text"]);

function toImagePart(part: Record<string, unknown>, param: string): ContentPart {
  refuseFileId(part, param);
  const url = expectString(part["image_url"], `${param}.image_url`);
  const detail = ifGiven(part["detail"], `${param}.detail`, expectString);
  // In chat completions, the highest `detail` is `high`.
  const known = detail === "original" ? "high" : detail;
  return { type: "image_url", image_url: { url, ...(known !== undefined && { detail: known }) } };
}

/** Sends a URL unchanged, because some providers fetch files themselves. */
function toFilePart(part: Record<string, unknown>, param: string): ContentPart {
  refuseFileId(part, param);
  const url = ifGiven(part["file_url"], `${param}.file_url`, expectString);
  const data = url ?? expectString(part["file_data"], `${param}.file_data`);
  const filename = ifGiven(part["filename"], `${param}.filename`, expectString);
  return { type: "file", file: { file_data: data, ...(filename !== undefined && { filename }) } };
}

function refuseFileId(part: Record<string, unknown>, param: string): void {
  if (ifGiven(part["file_id"], `${param}.file_id`, expectString) === undefined) return;
  throw unsupported(`${param}.file_id`, "the gateway does not store files. Send the file itself.");
}

function refuse(part: Record<string, unknown>, param: string): never {
  const type = String(part["type"]).slice(0, 64);
  throw unsupported(
    `${param}.type`,
    `this provider does not accept parts of type "${type}" here. Remove the part.`,
  );
}
