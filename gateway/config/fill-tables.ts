import { sections, type Variable } from "./variables.ts";

/** Replaces the first table below each section's heading with the table of the section's variables. */
export function fillTables(page: string): string {
  return Object.entries(sections).reduce((text, [title, variables]) => {
    const place = new RegExp(`(?<=^## ${title}\n(?:(?![#|]).*\n)*)(?:\\|.*\n)+`, "m");
    if (!place.test(text)) throw new Error(`The page has no table below the heading "${title}". Add both.`);
    return text.replace(place, () => formatTable(variables));
  }, page);
}

function formatTable(variables: Record<string, Variable>): string {
  const rows = Object.entries(variables).map(([name, variable]) => ({
    variable: `\`${name}\``,
    default: formatDefault(variable),
    unit: variable.unit,
    meaning: variable.meaning,
  }));
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column].length)));
  const line = (cells: string[], fill = " ") =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |\n`;
  const lines = rows.map((row) => line(columns.map((column) => row[column])));
  return [
    line([...columns]),
    line(
      columns.map(() => ""),
      "-",
    ),
    ...lines,
  ].join("");
}

const columns = ["variable", "default", "unit", "meaning"] as const;

function formatDefault({ schema, ifUnset }: Variable): string {
  if (ifUnset !== undefined) return ifUnset;
  const value: unknown = schema.parse(undefined);
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return `\`${value}\``;
  const items = Object.entries(value ?? {}).map(([name, item]) => `${name}=${String(item)}`);
  return items.length === 0 ? "none" : `\`${items.join()}\``;
}
