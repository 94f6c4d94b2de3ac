/** A text for people in a source file. */
export type Text = {
  file: string;
  /** The first line of the text, from 1. */
  line: number;
  kind: "comment" | "document" | "interface" | "message" | "title";
  /** Plain text. Code and placeholders are replaced by `codeWord`. */
  text: string;
};

/** Stands for a piece of code or a value, as one word of a sentence. */
export const codeWord = "Code";

/** Replaces inline code, URLs and links by `codeWord`. */
export function withoutMarks(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, codeWord)
    .replaceAll(/\bhttps?:\/\/\S+/g, codeWord)
    .replaceAll(/\{@link [^}]*\}/g, codeWord);
}
