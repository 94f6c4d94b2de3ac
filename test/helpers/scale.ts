/** `npm run test:full`, `test:chaos` and `test:attack` run at full scale. `npm test` runs at a reduced scale. */
export const isFull = process.env["TEST_SCALE"] === "full";

export function figures(title: string, values: Record<string, number | string>): string {
  return `${title}: ${Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ")}`;
}
