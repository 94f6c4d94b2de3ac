/**
 * The number in a field; null for none. Fields of type "number" bind a number, and null once they are emptied, where others
 * bind their text: and `Number(null)` is 0. People put commas and spaces between thousands.
 */
export function readNumber(typed: string | number | null): number | null {
  const digits = String(typed ?? "").replace(/[,\s]/g, "");
  return digits === "" ? null : Number(digits);
}
