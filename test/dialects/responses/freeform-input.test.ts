import test from "ava";
import fc from "fast-check";
import { FreeformInput } from "../../../gateway/dialects/responses/freeform-input.ts";
import { anyCharacter } from "../../helpers/any-character.ts";

function readIn(pieces: string[]): { choice: string; text: string } {
  const input = new FreeformInput();
  const choice = pieces.map((piece) => input.push(piece)).join("");
  const { text, remaining } = input.finish();
  return { choice: choice + remaining, text };
}

/** Returns the text cut at these positions. */
function cut(text: string, places: number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, text.length].map((end, index, all) => text.slice(all[index - 1] ?? 0, end));
}

const written = fc.string({ unit: anyCharacter, maxLength: 60 });
const spaces = fc.constantFrom("", " ", "\n  ", "\t");

test("any text is read from any JSON spelling, however it is cut", (t) => {
  const spelled = fc.tuple(written, spaces, spaces, fc.boolean()).map(([text, before, after, isAscii]) => {
    const json = JSON.stringify(text);
    const spelling = isAscii
      ? json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      : json;
    return { text, args: `${before}{${after}"input"${before}:${after}${spelling}${after}}${before}` };
  });
  fc.assert(
    fc.property(spelled, fc.array(fc.nat(), { maxLength: 8 }), ({ text, args }, places) => {
      t.deepEqual(readIn(cut(args, places)), { choice: text, text });
      t.deepEqual(readIn([...args]), { choice: text, text });
    }),
  );
  t.pass();
});

test("half a character is never emitted", (t) => {
  const input = new FreeformInput();
  const pieces = ['{"input":"a\\ud83c', "\\udf0d", 'b"}'].map((piece) => input.push(piece));
  t.deepEqual(pieces, ["a", "🌍", "b"]);
});

test("a truncated response emits the text received so far", (t) => {
  t.deepEqual(readIn(['{"input":"*** Begin', " Patch\\n*** Add", "\\"]), {
    choice: "*** Begin Patch\n*** Add",
    text: "*** Begin Patch\n*** Add",
  });
});

test("invalid JSON is kept as text", (t) => {
  t.is(readIn(['{"input":"line\nbreak \\d+ \\x41 C:\\users"}']).text, "line\nbreak d+ x41 C:\\users");
  t.is(readIn(["*** Begin Patch\n*** End Patch\n"]).text, "*** Begin Patch\n*** End Patch\n");
  t.is(readIn([`${" ".repeat(80)}{"input":"a"}`]).text, "a");
  t.is(readIn([]).text, "");
});

test("the work is proportional to the piece", (t) => {
  const input = new FreeformInput();
  input.push('{"input":"');
  const piece = "a line of a patch\\n".repeat(4);
  const started = process.hrtime.bigint();
  for (let index = 0; index < 50_000; index++) input.push(piece);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  t.is(input.finish().text.length, 50_000 * 4 * "a line of a patch\n".length);
  t.true(seconds < 5, `${seconds} s for 3.6 MB`);
});
