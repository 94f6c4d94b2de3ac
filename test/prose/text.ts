export type Text = {
  file: string;
  /** The first line of the text, from 1. */
  line: number;
  kind: "comment" | "document" | "interface" | "message" | "title";
  /** Plain text, in which `codeWord` replaces code and placeholders. */
  text: string;
};

/** Replaces a piece of code or a value, so that it counts as one word. */
export const codeWord = "Code";

/** Replaces inline code, URLs and `@link` tags with `codeWord`. */
export function withoutMarks(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, codeWord)
    .replaceAll(/\bhttps?:\/\/\S+/g, codeWord)
    .replaceAll(/\{@link [^}]*\}/g, codeWord);
}
