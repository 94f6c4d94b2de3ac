import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { EventSplitter, GrowingBody } from "../../gateway/wire/bytes.ts";
import { anyCharacter } from "../helpers/any-character.ts";
import { cutAnywhere, seededRandom } from "../helpers/seeded-random.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";

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
