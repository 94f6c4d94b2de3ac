import test from "ava";
import { formatCsv } from "../../console/src/lib/usage/format-csv.ts";

const starts = ["=", "+", "-", "@", "＝", "＋", "－", "＠"];
const names = starts.flatMap((start) => [
  `${start}cmd|' /C calc'!A1`,
  ` ${start}1+1`,
  `x;${start}cmd|' /C calc'!A1;y`,
  `x\t${start}1`,
  `x\r\n${start}1`,
  `x";${start}1;"y`,
  `x,${start}HYPERLINK("http://example.com")`,
]);

for (const name of names) {
  test(`no cell starts a formula, whatever the separator: ${JSON.stringify(name)}`, (t) => {
    const given = { id: "req_1", apiKeyName: name } as Parameters<typeof formatCsv>[0][number];
    const record = new Proxy(given, { get: (from, key) => Reflect.get(from, key) ?? null });
    const [, ...lines] = formatCsv([record]).split("\r\n");
    const row = lines.join("\r\n");
    const [, byComma = ""] = /^"req_1",,,"((?:[^"]|"")*)",/s.exec(row) ?? [];
    t.is(byComma.replaceAll('""', '"').replaceAll(/'(?=[\s"]*[=+\-@＝＋－＠])/g, ""), name);
    // Some spreadsheets separate cells at characters other than commas, and ignore quotes.
    for (const cell of [byComma, ...row.split(/[;,\t\r\n|]/)])
      t.notRegex(cell, /^[\s"]*[=+\-@＝＋－＠]/, cell);
  });
}
