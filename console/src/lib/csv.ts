export type CsvColumn<Row> = [title: string, value: (row: Row) => string | number | boolean | null];

/** The rows as CSV (RFC 4180), with a header line. */
export function formatTable<Row>(columns: CsvColumn<Row>[], rows: Row[]): string {
  const lines = rows.map((row) => columns.map(([, value]) => formatCell(value(row))).join(","));
  return [columns.map(([title]) => title).join(","), ...lines].join("\r\n") + "\r\n";
}

/** Saves a CSV file with the browser. */
export function saveCsv(text: string, name: string): void {
  const link = document.createElement("a");
  // With a byte order mark, Excel reads it as UTF-8.
  link.href = URL.createObjectURL(new Blob(["\u{feff}", text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * Quoted text, with an apostrophe before anything a spreadsheet would run as a formula. Quotes do not protect text
 * behind `;` or a tab where those separate cells, so it gets an apostrophe too.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
function formatCell(value: string | number | boolean | null): string {
  if (value === null) return "";
  // Costs are decimal strings.
  if (typeof value !== "string" || /^\d+(\.\d+)?$/.test(value)) return String(value);
  const text = value.replaceAll(formulaStart, "$1'");
  return `"${text.replaceAll('"', '""')}"`;
}

/** Where a cell may start, before a character that starts a formula, full-width forms included. */
const formulaStart = /(^|[\r\n\t;,|])(?=(?:"|[^\S\r\n\t])*[=+\-@＝＋－＠])/g;
