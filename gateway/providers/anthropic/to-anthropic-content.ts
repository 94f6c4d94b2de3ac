import { type ChatMessage, type ContentPart, isObject } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectString } from "../../wire/expect-type.ts";
import { invalidType } from "../../wire/parameter-errors.ts";
import type { ContentBlock, TextBlock } from "./messages-request.ts";
import { toCacheControl } from "./to-cache-control.ts";
import { toFileBlock } from "./to-file-block.ts";
import { toImageBlock } from "./to-image-block.ts";

/** What a person or a tool says: text, images, files. */
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
        throw unsupported(at, `Claude cannot read parts of the type ${part.type.slice(0, 64)}.`);
    }
  });
}

/** What can only be text: instructions, and what the model itself has said, if only to refuse. */
export function toTextBlocks(content: ChatMessage["content"], param: string): TextBlock[] {
  return toParts(content, param).flatMap(({ part, at }) => {
    if (part.type === "text" || part.type === "refusal") return toTextBlock(part, at, part.type);
    throw unsupported(at, "Here, Claude takes text only.");
  });
}

function toParts(content: ChatMessage["content"], param: string): { part: ContentPart; at: string }[] {
  if (typeof content === "string") return [{ part: { type: "text", text: content }, at: param }];
  // Nobody has looked at the parts yet.
  const parts: unknown[] = content ?? [];
  return parts.map((part, index) => {
    const at = `${param}[${index}]`;
    if (!isObject(part)) throw invalidType(at, "an object", part);
    return { part: { ...part, type: expectString(part["type"], `${at}.type`) }, at };
  });
}

/** Text without anything to see says nothing, and the API refuses it. */
function toTextBlock(part: ContentPart, at: string, field: "text" | "refusal"): TextBlock[] {
  const text = expectString(part[field], `${at}.${field}`);
  return text.trim() === "" ? [] : [{ type: "text", text, cache_control: toCacheControl(part, at) }];
}
