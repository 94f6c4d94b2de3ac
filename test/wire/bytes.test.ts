import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { EventSplitter, GrowingBody } from "../../gateway/wire/bytes.ts";
import { parseJson } from "../../gateway/wire/json.ts";
import { TextScanner } from "../../gateway/wire/text-scanner.ts";
import { anyCharacter } from "../helpers/any-character.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { cutAnywhere, seededRandom } from "../helpers/seeded-random.ts";

/** Returns the chunks of whole events, at most one per piece. */
function split(pieces: Buffer[], bytesMax = 1_000_000): string[] {
  const splitter = new EventSplitter(bytesMax);
  const events: string[] = [];
  for (const piece of pieces) {
    // A connection reuses the memory of earlier pieces, which `fill` simulates.
    const lent = Buffer.from(piece);
    const whole = splitter.push(lent);
    if (whole !== null) events.push(whole.toString("latin1"));
    lent.fill("?");
  }
  return events;
}

/** Lines of any kind and line end, followed by an empty line. */
function event(): fc.Arbitrary<string> {
  const line = fc.oneof(
    fc.string({ unit: anyCharacter }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
    fc.constantFrom(": comment", "event: x", "data: a\rb", "data: [DONE]", "data:"),
  );
  const end = fc.constantFrom("\n", "\r\n");
  return fc
    .tuple(fc.array(fc.tuple(line, end), { minLength: 1, maxLength: 4 }), end)
    .map(([lines, last]) => lines.map(([text, lineEnd]) => text + lineEnd).join("") + last);
}

test("however the bytes are cut, the same bytes are emitted in complete events", (t) => {
  const property = fc.property(
    fc.array(event(), { maxLength: 8 }),
    fc.constantFrom("", "data: {", "data: half\n", "data: half\r\n", "data: half\r", "\r"),
    fc.integer(),
    fc.integer({ min: 1, max: 40 }),
    (events, rest, seed, pieceBytesMax) => {
      const bytes = Buffer.from(events.join("") + rest);
      const out = split(cutAnywhere(bytes, seededRandom(seed), pieceBytesMax));
      assert.equal(out.join(""), Buffer.from(events.join("")).toString("latin1"));
      for (const piece of out) assert.match(piece, /\n\r?\n$/);
    },
  );
  t.notThrows(() => fc.assert(property, { numRuns: 150 }));
});

test("an event is emitted with its last byte", (t) => {
  for (const [lineEnd, last] of [
    ["\n", "\n"],
    ["\r\n", "\r\n"],
    ["\n", "\r\n"],
    ["\r\n", "\n"],
  ] as const) {
    const bytes = Buffer.from(`data: é${lineEnd}${last}`);
    const splitter = new EventSplitter(100);
    const oneByOne = [...bytes].map((byte) => splitter.push(Buffer.from([byte])));
    t.deepEqual(
      oneByOne.slice(0, -1),
      Array.from({ length: bytes.length - 1 }, () => null),
    );
    t.deepEqual(oneByOne.at(-1), bytes);
  }
});

test("a piece that ends with an event is passed on without copying", (t) => {
  const piece = Buffer.from("data: a\n\ndata: b\n\n");
  t.is(new EventSplitter(100).push(piece)?.buffer, piece.buffer);
});

test("two line ends of different lines do not end an event", (t) => {
  t.deepEqual(split([Buffer.from("data: a\n"), Buffer.from("data: b\n"), Buffer.from("\rdata: c\n")]), []);
  t.deepEqual(split([Buffer.from("data: a\r"), Buffer.from("\r\n")]), []);
});

test("an event over the limit is detected as soon as it exceeds it", (t) => {
  const isTooLong = (...pieces: string[]) => {
    const splitter = new EventSplitter(50);
    for (const piece of pieces) splitter.push(Buffer.from(piece));
    return splitter.isTooLong;
  };
  t.false(isTooLong(`data: ${"a".repeat(44)}`));
  t.false(isTooLong(`data: ${"a".repeat(44)}`, "\n\n"));
  t.true(isTooLong(`data: ${"a".repeat(45)}`));
  t.true(isTooLong(...Array.from({ length: 51 }, () => "a")));
  t.true(isTooLong(`data: a\n\n${"b".repeat(51)}`));
  // Each event has its own limit.
  t.false(isTooLong(...Array.from({ length: 200 }, () => "data: a\n\n")));
});

test("an event of 4 MB in tiny pieces takes linear time", (t) => {
  const bytes = Buffer.from(`data: ${"a".repeat(4_000_000)}\n\n`);
  const before = process.cpuUsage();
  const events = split(cutAnywhere(bytes, seededRandom(1), 8), 8_000_000);
  t.is(events[0]?.length, bytes.length);
  t.true(cpuMsSince(before) < 10_000);
});

for (const isReadOnce of [true, false]) {
  test(`a growing body ${isReadOnce ? "frees" : "keeps"} buffers that it has outgrown`, (t) => {
    const body = new GrowingBody(1_024, isReadOnce);
    const chunks = ["ab", "cd", "e".repeat(100), "f".repeat(800)].map((text) => Buffer.from(text));
    const earlier = chunks.map((chunk) => {
      body.append(chunk);
      return body.bytes;
    });
    const texts = ["ab", isReadOnce ? "" : "abcd", isReadOnce ? "" : `abcd${chunks[2]}`, chunks.join("")];
    t.deepEqual(earlier.map(String), texts);
    t.is(String(body.bytes), chunks.join(""));
    body.clear();
    t.deepEqual([earlier[3]?.length, body.length], [isReadOnce ? 0 : 904, 0]);
    t.is(chunks.join("").length, 904, "the caller's chunks stay");
  });
}

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
  t.true(cpuMsSince(before) < 10_000);
});

test("escapes are counted, with at most a few too many", (t) => {
  const text = `${"\\n".repeat(100_000)}"`;
  scanner.findEnd(Buffer.from(text), 0, text.length);
  t.true(scanner.escapes >= 100_000 && scanner.escapes < 100_100);
  scanner.findEnd(Buffer.from('a"'), 0, 2);
  t.true(scanner.escapes <= 8);
});
