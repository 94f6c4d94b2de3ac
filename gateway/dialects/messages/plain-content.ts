import type { ContentPart } from "../../wire/chat-completion.ts";

/** A text where it is nothing more: not everyone who takes chat completions takes parts everywhere. */
export function plainContent(parts: ContentPart[]): string | ContentPart[] {
  return parts.length < 2 && parts.every(isPlain) ? joinTexts(parts) : parts;
}

/** The same for messages that are text only, whose parts can be one text. */
export function plainText(parts: ContentPart[]): string | ContentPart[] {
  return parts.every(isPlain) ? joinTexts(parts) : parts;
}

function isPlain(part: ContentPart): boolean {
  return part.type === "text" && part["cache_control"] === undefined;
}

function joinTexts(parts: ContentPart[]): string {
  return parts.map(({ text }) => String(text)).join("\n\n");
}
