export type CsvColumn<Row> = [title: string, value: (row: Row) => string | number | boolean | null];

/** The rows as CSV (RFC 4180), with a header line. */
export function formatTable<Row>(columns: CsvColumn<Row>[], rows: Row[]): string {
  const lines = rows.map((row) => columns.map(([, value]) => formatCell(value(row))).join(","));
  return [columns.map(([title]) => title).join(","), ...lines].join("\r\n") + "\r\n";
}

export function saveCsv(text: string, name: string): void {
  const link = document.createElement("a");
  // Excel reads a file with a byte order mark as UTF-8.
  link.href = URL.createObjectURL(new Blob(["\u{feff}", text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * Quotes text and inserts an apostrophe before each formula in it. Some spreadsheets split quoted cells at
 * `;` or tabs. https://owasp.org/www-community/attacks/CSV_Injection
 */
function formatCell(value: string | number | boolean | null): string {
  if (value === null) return "";
  // Costs are decimal strings, which need no quotes.
  if (typeof value !== "string" || /^\d+(\.\d+)?$/.test(value)) return String(value);
  const text = value.replaceAll(formulaStart, "$1'");
  return `"${text.replaceAll('"', '""')}"`;
}

/** The start of a cell that contains a formula. Full-width characters can also start a formula. */
const formulaStart = /(^|[\r\n\t;,|])(?=(?:"|[^\S\r\n\t])*[=+\-@＝＋－＠])/g;
