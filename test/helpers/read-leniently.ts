/** Returns valid JSON with the meaning that a lenient parser gives to unknown escapes and control characters. */
export function readLeniently(text: string): string {
  return text
    .replaceAll(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|([^]))/g, (escape, other) => other ?? escape)
    .replaceAll(/\p{Cc}/gu, " ");
}
