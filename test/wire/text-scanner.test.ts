import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { parseJson } from "../../gateway/wire/json.ts";
import { TextScanner } from "../../gateway/wire/text-scanner.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";

const scanner = new TextScanner();

/** Returns the index of the closing quote. Null if the string is unclosed or `JSON.parse` rejects it. */
function expectedEnd(bytes: Buffer): number | null {
  const text = bytes.toString("latin1");
  const [string] = /^(?:[^"\\]|\\[^])*"/.exec(text) ?? [];
  return string !== undefined && parseJson(`"${string}`) !== null ? string.length - 1 : null;
}

function check(bytes: Buffer): void {
  assert.equal(
    scanner.findEnd(bytes, 0, bytes.length),
    expectedEnd(bytes),
    JSON.stringify(bytes.toString("latin1")),
  );
}

const validPieces = [
  "\\\\",
  '\\"',
  "\\/",
  "\\n",
  "\\t",
  "\\u00e9",
  "\\uD83D\\uDE00",
  "é",
  "😀",
  " ",
  "abcdefg",
  "u",
  "/",
];
const invalidPieces = ["\\", '"', "\n", "\0", "\\x", "\\u00g0", "\\u12", "\\U0041", "\x1f"];

test("a string ends where JSON.parse ends it, or is invalid", (t) => {
  const piece = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...validPieces) },
    { weight: 1, arbitrary: fc.constantFrom(...invalidPieces) },
  );
  const property = fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), (pieces, isClosed) => {
    check(Buffer.from(`${pieces.join("")}${isClosed ? '",' : ""}`));
  });
  t.notThrows(() => fc.assert(property, { numRuns: 5_000 }));
});

test("each byte may stand only where JSON allows it", (t) => {
  for (const before of [
    "",
    "\\",
    "\\\\",
    "\\u",
    "\\u0",
    "\\u000",
    `${"a".repeat(14)}\\`,
    `${"a".repeat(15)}\\u`,
  ]) {
    for (let byte = 0; byte < 256; byte++) {
      const bytes = Buffer.concat([Buffer.from(before), Buffer.from([byte]), Buffer.from('0000"')]);
      t.notThrows(() => check(bytes));
    }
  }
});

test("an escape may lie across the end of a piece", (t) => {
  const ends = [256, 256 + 2_048, 256 + 2_048 + 16_384, 256 + 2_048 + 16_384 + 49_152];
  for (const end of ends) {
    for (const escape of ["\\u00e9", "\\\\", '\\"', "\\\\\\\\\\\\", "\\u12", "\\x", "\n", '"']) {
      for (let shift = 0; shift <= escape.length + 1; shift++) {
        t.notThrows(() => check(Buffer.from(`${"a".repeat(end - shift)}${escape}${"b".repeat(end)}"`)));
      }
    }
  }
});

test("a short string takes little time within a long body", (t) => {
  const count = 800_000;
  const bytes = Buffer.from(`${"a".repeat(40)}"`.repeat(count));
  const before = process.cpuUsage();
  let at = 0;
  for (let string = 0; string < count; string++) at = (scanner.findEnd(bytes, at, bytes.length) ?? NaN) + 1;
  t.is(at, bytes.length);
  t.true(cpuMsSince(before) < 800);
});

test("escapes are counted, with at most a few too many", (t) => {
  const text = `${"\\n".repeat(100_000)}"`;
  scanner.findEnd(Buffer.from(text), 0, text.length);
  t.true(scanner.escapes >= 100_000 && scanner.escapes < 100_100);
  scanner.findEnd(Buffer.from('a"'), 0, 2);
  t.true(scanner.escapes <= 8);
});
