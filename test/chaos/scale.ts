/** `npm run test:chaos` plays everything in full; `npm test` the same, shorter. */
export const isFull = process.env["CHAOS"] === "full";

/** What a harness measured, as one line. */
export function figures(title: string, values: Record<string, number | string>): string {
  return `${title}: ${Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ")}`;
}
