import type { ContentPart } from "../../wire/chat-completion.ts";

/** A text where it is nothing more: not everyone who takes chat completions takes parts everywhere. */
export function plainContent(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts;
  if (first === undefined) return "";
  const isPlain = parts.length === 1 && first.type === "text" && first["cache_control"] === undefined;
  return isPlain ? String(first["text"]) : parts;
}
