/**
 * Reads a field's number. Null if the field is empty. Accepts commas and spaces between thousands.
 * @param typed a number or null from a number field, text from any other field
 */
export function readNumber(typed: string | number | null): number | null {
  const digits = String(typed ?? "").replace(/[,\s]/g, "");
  return digits === "" ? null : Number(digits);
}

/** The inverse of `readNumber`. Null becomes empty text. */
export function writeNumber(number: number | null | undefined): string {
  if (number === null || number === undefined) return "";
  // `toFixed` avoids exponents, as in 1e-7, for small prices.
  return Number.isInteger(number) ? String(number) : number.toFixed(9).replace(/0+$/, "");
}
