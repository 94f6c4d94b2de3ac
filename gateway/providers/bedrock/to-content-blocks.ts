import type { ChatMessage } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import type { ValueCount } from "../../wire/json-layout.ts";
import { cachePointAfter } from "./cache-point.ts";
import type { CachePointBlock, MediaBlock, TextBlock } from "./converse-request.ts";
import type { DocumentNames } from "./document-names.ts";
import { expectObject, expectString } from "../../wire/expect-type.ts";
import type { ModelFamily } from "./model-family.ts";
import { toAudioBlock, toFileBlock, toPictureBlock } from "./to-media-block.ts";

/** What is the same for all messages of a request. */
export type Conversation = { family: ModelFamily; documentNames: DocumentNames; jsonTexts: ValueCount };

type Part = Record<string, unknown>;

/** The content of a user's message or of a tool's. */
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
        // A result of a tool cannot have sound in it.
        if (message.role === "user") return [toAudioBlock(part, partParam)];
        break;
    }
    return textOf(part, partParam);
  });
}

/** The content of messages that can be text only. */
export function toTextBlocks(
  message: ChatMessage,
  param: string,
  conversation: Conversation,
): (TextBlock | CachePointBlock)[] {
  return eachPart(message, param, conversation, textOf);
}

/** Bedrock refuses blank text, so none is made. */
export function unlessBlank(text: string): TextBlock[] {
  return text.trim() === "" ? [] : [{ text }];
}

function textOf(part: Part, param: string): TextBlock[] {
  const { type } = part;
  if (type === "text" || type === "refusal") return unlessBlank(expectString(part[type], `${param}.${type}`));
  throw unsupported(param, "Models on Bedrock take no content of this type here.");
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
