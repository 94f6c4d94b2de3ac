import type { ContentPart } from "../../wire/chat-completion.ts";
import {
  expectObject,
  expectString,
  ifGiven,
  unsupported,
  invalidValue,
} from "../../wire/parameter-errors.ts";
import { isObject, listOf, textOf } from "../../wire/json.ts";

export function toContentParts(block: Block): ContentPart[] {
  const { type, param } = block;
  switch (type) {
    case "text":
      return toTextPart(block);
    case "image":
      return [withMarker(toImagePart(block), block)];
    case "document":
      return toDocumentParts(block).map((part, index, { length }) =>
        index === length - 1 ? withMarker(part, block) : part,
      );
    default: {
      const text = describeBlock(block);
      if (text !== null) return text === "" ? [] : [withMarker({ type: "text", text }, block)];
      throw unsupported(
        param,
        `content blocks of type "${type.slice(0, 64)}" work only with Anthropic's models. Remove the block.`,
      );
    }
  }
}

/** Omits blank text, because many upstreams reject it. */
export function toTextPart(block: Block): ContentPart[] {
  const text = expectString(block.fields["text"], `${block.param}.text`);
  return text.trim() === "" ? [] : [withMarker({ type: "text", text }, block)];
}

/**
 * Copies the cache marker. Some upstreams cache the prompt up to this marker.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function withMarker<Part extends object>(part: Part, { fields, param }: Block): Part {
  const marker = ifGiven(fields["cache_control"], `${param}.cache_control`, expectObject);
  return marker === undefined ? part : { ...part, cache_control: marker };
}

export type Block = { type: string; fields: Record<string, unknown>; param: string };

/** @param content a string (short for one text block) or blocks */
export function toBlocks(content: unknown, param: string): Block[] {
  if (typeof content === "string") return [{ type: "text", fields: { text: content }, param }];
  return (Array.isArray(content) ? (content as unknown[]) : []).map((value, index) => {
    const at = `${param}[${index}]`;
    const fields = expectObject(value, at);
    return { type: expectString(fields["type"], `${at}.type`), fields, param: at };
  });
}

/** Converts a single text part to a string, because some upstreams reject parts in some messages. */
export function plainContent(parts: ContentPart[]): string | ContentPart[] {
  return parts.length < 2 && parts.every(isPlain) ? joinTexts(parts) : parts;
}

/** Joins the parts into one string, unless a part contains media or a cache marker. */
export function plainText(parts: ContentPart[]): string | ContentPart[] {
  return parts.every(isPlain) ? joinTexts(parts) : parts;
}

function isPlain(part: ContentPart): boolean {
  return part.type === "text" && part["cache_control"] === undefined;
}

function joinTexts(parts: ContentPart[]): string {
  return parts.map(({ text }) => String(text)).join("\n\n");
}

/** https://platform.claude.com/docs/en/build-with-claude/vision */
function toImagePart({ fields, param }: Block): ContentPart {
  const source = readSource(fields["source"], `${param}.source`);
  switch (source.type) {
    case "base64":
      return { type: "image_url", image_url: { url: source.dataUrl() } };
    case "url":
      return { type: "image_url", image_url: { url: source.text("url") } };
    default:
      throw sourceError(source.type, `${param}.source`);
  }
}

/**
 * Converts a PDF to a file, and any other document to text and images.
 * https://platform.claude.com/docs/en/build-with-claude/pdf-support
 */
function toDocumentParts({ fields, param }: Block): ContentPart[] {
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
      return [...about, { type: "text", text: inDocumentTags(source.text("data"), title) }];
    case "content":
      return [...about, ...toInnerParts(source.content, `${param}.source.content`)];
    default:
      throw sourceError(source.type, `${param}.source`);
  }
}

function toInnerParts(content: unknown, param: string): ContentPart[] {
  return toBlocks(content, param).flatMap((block) => {
    if (block.type === "image") return toImagePart(block);
    const text = expectString(block.fields["text"], `${block.param}.text`);
    return text === "" ? [] : { type: "text", text };
  });
}

function inDocumentTags(text: string, title: string | undefined): string {
  return `<document${title ? ` title=${JSON.stringify(title)}` : ""}>\n${text}\n</document>`;
}

function readSource(value: unknown, param: string) {
  const source = expectObject(value, param);
  const text = (name: string) => expectString(source[name], `${param}.${name}`);
  return {
    type: text("type"),
    content: source["content"],
    text,
    dataUrl: () => `data:${text("media_type")};base64,${text("data")}`,
  };
}

function sourceError(type: string, param: string): Error {
  if (type === "file")
    return unsupported(
      param,
      "files stored by Anthropic work only with Anthropic's models. Send the file itself.",
    );
  return invalidValue(`${param}.type`, "must be base64 or url, or for documents also text or content", type);
}

/**
 * Describes a block that only Anthropic supports, such as search results, as text for another model. Empty if
 * there is nothing to describe, null for an unknown type.
 */
export function describeBlock({ type, fields }: Block): string | null {
  const { content } = fields;
  switch (type) {
    case "tool_reference":
      return `The tool ${textOf(fields["tool_name"])} is now available.`;
    case "search_result":
      return inTags(type, `${textOf(fields["title"])} (${textOf(fields["source"])})\n${textsIn(content)}`);
    case "web_search_tool_result":
      return inTags(type, listOf(content).map(describeHit).join("\n") || errorIn(content));
    case "web_fetch_tool_result":
      return inTags(type, describePage(content) || errorIn(content));
    case "code_execution_tool_result":
    case "bash_code_execution_tool_result":
    case "text_editor_code_execution_tool_result":
      return inTags(type, describeRun(content) || errorIn(content));
    case "mcp_tool_result":
      return inTags(type, typeof content === "string" ? content : textsIn(content));
    case "compaction":
      return textOf(content);
    case "browser_state":
      return JSON.stringify(fields);
    case "server_tool_use":
    case "mcp_tool_use":
    case "tool_search_tool_result":
    case "mcp_tool_listing":
    case "fallback":
      return "";
    default:
      return null;
  }
}

/** The hit's content is encrypted. https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool */
function describeHit(hit: unknown): string {
  return isObject(hit) ? `- ${textOf(hit["title"])} (${textOf(hit["url"])})` : "";
}

function describePage(content: unknown): string {
  if (!isObject(content) || typeof content["url"] !== "string") return "";
  const page = isObject(content["content"]) ? content["content"] : {};
  const source = isObject(page["source"]) ? page["source"] : {};
  return `${content["url"]}\n${source["type"] === "text" ? textOf(source["data"]) : ""}`.trim();
}

function describeRun(content: unknown): string {
  if (!isObject(content)) return "";
  const { stdout, stderr, content: shown, return_code: code } = content;
  const lines = [textOf(stdout), textOf(stderr), textOf(shown)].filter((text) => text !== "");
  return [...lines, ...(typeof code === "number" && code !== 0 ? [`Exit code ${code}`] : [])].join("\n");
}

function errorIn(content: unknown): string {
  const code = isObject(content) ? textOf(content["error_code"]) : "";
  return code === "" ? "" : `Error: ${code}`;
}

function textsIn(content: unknown): string {
  return listOf(content)
    .map((block) => (isObject(block) ? textOf(block["text"]) : ""))
    .join("\n");
}

function inTags(name: string, text: string): string {
  return text.trim() === "" ? "" : `<${name}>\n${text.trim()}\n</${name}>`;
}
