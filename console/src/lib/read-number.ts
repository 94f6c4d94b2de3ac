/**
 * Returns null for an empty field, and NaN for text that is not a number. Ignores commas and spaces.
 * @param typed a number or null from a number field, text from any other field
 */
export function readNumber(typed: string | number | null): number | null {
  const digits = String(typed ?? "").replace(/[,\s]/g, "");
  return digits === "" ? null : Number(digits);
}

/** Formats a number for a text field, with up to nine decimals. */
export function writeNumber(number: number | null | undefined): string {
  if (number === null || number === undefined) return "";
  // `String` would format small prices with an exponent, such as 1e-7.
  return Number.isInteger(number) ? String(number) : number.toFixed(9).replace(/0+$/, "");
}
