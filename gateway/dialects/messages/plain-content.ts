import type { ContentPart } from "../../wire/chat-completion.ts";

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
