/**
 * The number in a field; null for none. Fields of type "number" bind a number, and null once they are emptied, where others
 * bind their text: and `Number(null)` is 0. People put commas and spaces between thousands.
 */
export function readNumber(typed: string | number | null): number | null {
  const digits = String(typed ?? "").replace(/[,\s]/g, "");
  return digits === "" ? null : Number(digits);
}

/** As `readNumber` reads it; empty for none. */
export function writeNumber(number: number | null | undefined): string {
  if (number === null || number === undefined) return "";
  // No exponent: 0.0000001 is a price that people could write.
  return Number.isInteger(number) ? String(number) : number.toFixed(9).replace(/0+$/, "");
}
