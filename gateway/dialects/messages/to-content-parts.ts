import type { ContentPart } from "../../wire/chat-completion.ts";
import { expectObject, expectString, ifGiven, unsupported } from "../../wire/parameter-errors.ts";
import { describeBlock } from "./describe-block.ts";
import type { Block } from "./to-blocks.ts";
import { toDocumentParts, toImagePart } from "./to-media-part.ts";

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
