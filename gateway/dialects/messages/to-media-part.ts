import type { ContentPart } from "../../wire/chat-completion.ts";
import {
  invalidValue,
  expectObject,
  expectString,
  ifGiven,
  unsupported,
} from "../../wire/parameter-errors.ts";
import { type Block, toBlocks } from "./to-blocks.ts";

/** https://platform.claude.com/docs/en/build-with-claude/vision */
export function toImagePart({ fields, param }: Block): ContentPart {
  const source = readSource(fields["source"], `${param}.source`);
  switch (source.type) {
    case "base64":
      return { type: "image_url", image_url: { url: source.dataUrl() } };
    case "url":
      return { type: "image_url", image_url: { url: source.text("url") } };
    default:
      throw sourceError(source, `${param}.source`);
  }
}

/**
 * Converts a PDF to a file, and any other document to text and images.
 * https://platform.claude.com/docs/en/build-with-claude/pdf-support
 */
export function toDocumentParts({ fields, param }: Block): ContentPart[] {
  const title = ifGiven(fields["title"], `${param}.title`, expectString);
  const context = ifGiven(fields["context"], `${param}.context`, expectString);
  const source = readSource(fields["source"], `${param}.source`);
  const about: ContentPart[] = context ? [{ type: "text", text: context }] : [];
  const filename = title || "document.pdf";
  switch (source.type) {
    case "base64":
      return [...about, { type: "file", file: { filename, file_data: source.dataUrl() } }];
    case "url":
      return [...about, { type: "file", file: { filename, file_data: source.text("url") } }];
    case "text":
      return [...about, { type: "text", text: inTags(source.text("data"), title) }];
    case "content":
      return [...about, ...toInnerParts(source.content, `${param}.source.content`)];
    default:
      throw sourceError(source, `${param}.source`);
  }
}

function toInnerParts(content: unknown, param: string): ContentPart[] {
  return toBlocks(content, param).flatMap((block) => {
    if (block.type === "image") return toImagePart(block);
    const text = expectString(block.fields["text"], `${block.param}.text`);
    return text === "" ? [] : { type: "text", text };
  });
}

function inTags(text: string, title: string | undefined): string {
  return `<document${title ? ` title=${JSON.stringify(title)}` : ""}>\n${text}\n</document>`;
}

type Source = { type: string; content: unknown; text(name: string): string; dataUrl(): string };

function readSource(value: unknown, param: string): Source {
  const source = expectObject(value, param);
  const text = (name: string) => expectString(source[name], `${param}.${name}`);
  return {
    type: text("type"),
    content: source["content"],
    text,
    dataUrl: () => `data:${text("media_type")};base64,${text("data")}`,
  };
}

function sourceError({ type }: Source, param: string): Error {
  if (type === "file")
    return unsupported(
      param,
      "files stored by Anthropic work only with Anthropic's models. Send the file itself.",
    );
  return invalidValue(`${param}.type`, "must be base64 or url, or for documents also text or content", type);
}
