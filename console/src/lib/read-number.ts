/**
 * A field's number. Null without one. Number fields bind numbers and null, others text, and `Number(null)` is 0.
 * Accepts commas and spaces between thousands.
 */
export function readNumber(typed: string | number | null): number | null {
  const digits = String(typed ?? "").replace(/[,\s]/g, "");
  return digits === "" ? null : Number(digits);
}

/** The inverse of `readNumber`. Empty for null. */
export function writeNumber(number: number | null | undefined): string {
  if (number === null || number === undefined) return "";
  // Without an exponent: 0.0000001 is a valid price.
  return Number.isInteger(number) ? String(number) : number.toFixed(9).replace(/0+$/, "");
}
