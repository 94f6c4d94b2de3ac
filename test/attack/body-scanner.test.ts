import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { runInNewContext } from "node:vm";
import test from "ava";
import { outlineModelBody, parseBody, RequestMembers } from "../../gateway/dialects/parse-body.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { bodyLimits } from "../helpers/body-limits.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { type SeededRandom, seededRandom } from "../helpers/seeded-random.ts";

const cases = isFull ? 1_000_000 : 20_000;

test.serial("the body scanner and JSON.parse agree on every text", (t) => {
  t.timeout(900_000);
  const counts = { accepted: 0, refused: 0 };
  for (let seed = 0; seed < cases; seed++) {
    const random = seededRandom(seed);
    const text = random.chance(0.3) ? objectText(random, 3) : mutate(objectText(random, 3), random);
    counts[compare(text, random.upTo(7))]++;
  }
  t.log(figures("body scanner", counts));
  t.true(counts.accepted > cases / 3 && counts.refused > cases / 3);
});

/** Throws if the gateway and `JSON.parse` disagree about the text. */
function compare(text: string, offset: number): "accepted" | "refused" {
  // The result must not depend on the position of the text in its buffer.
  const bytes = Buffer.from(`${"-".repeat(offset)}${text}`).subarray(offset);
  const members: [name: string, value: unknown][] = [];
  const visit = (keyStart: number, keyEnd: number, start: number, end: number) => {
    members.push([
      String(parse(bytes.toString("utf8", keyStart - 1, keyEnd + 1))),
      parse(bytes.toString("utf8", start, end)),
    ]);
  };
  const expected = parse(bytes.toString("utf8"));
  if (typeof expected === "object" && expected !== null && !Array.isArray(expected)) {
    parseBody(bytes, bodyLimits, visit);
    compareOutline(bytes, expected);
    // `JSON.parse` also keeps the last of several members with the same name.
    const found = Object.fromEntries(members);
    if (!isDeepStrictEqual(found, expected))
      assert.equal(JSON.stringify(found), JSON.stringify(parseInNewContext(text)), text);
    return "accepted";
  }
  const isInvalid = (error: unknown) => error instanceof GatewayError && error.code === "invalid_body";
  assert.throws(() => parseBody(bytes, bodyLimits, () => {}), isInvalid, text);
  assert.throws(() => outlineModelBody(bytes, bodyLimits, noMembers), isInvalid, text);
  return "refused";
}

function compareOutline(bytes: Buffer, expected: object): void {
  const { outline, parseWhole } = outlineModelBody(bytes, bodyLimits, noMembers);
  assert.deepEqual(parseWhole(), expected);
  const shorten = (name: string, value: unknown) => (isLongText(name, value) ? "-" : value);
  assert.equal(JSON.stringify(outline), JSON.stringify(expected, shorten), bytes.toString());
}

function isLongText(name: string, value: unknown): boolean {
  if (name !== "text" && name !== "content") return false;
  return typeof value === "string" && value.length > 400;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * V8 confuses an escaped name with an earlier one that starts with a backslash. A new context has no earlier names.
 * https://github.com/nodejs/node/issues/63785
 */
function parseInNewContext(text: string): unknown {
  const parsed: unknown = runInNewContext("JSON.parse(text)", { text });
  return Object.fromEntries(Object.entries(parsed as object));
}

function objectText(random: SeededRandom, depth: number): string {
  const members = Array.from({ length: random.upTo(4) }, () => {
    return `${space(random)}${stringText(random)}${space(random)}:${space(random)}${valueText(random, depth)}${space(random)}`;
  });
  return `${space(random)}{${members.length === 0 ? space(random) : members.join(",")}}${space(random)}`;
}

function valueText(random: SeededRandom, depth: number): string {
  const kind = random.upTo(depth > 0 ? 5 : 3);
  if (kind <= 1) return stringText(random);
  if (kind <= 3) return random.pick(scalars);
  if (kind === 4) return objectText(random, depth - 1);
  const items = Array.from({ length: random.upTo(3) }, () => valueText(random, depth - 1));
  return `[${items.join(`${space(random)},${space(random)}`)}]`;
}

/** The lengths cluster around the thresholds of the scanner. */
function stringText(random: SeededRandom): string {
  if (random.chance(0.3)) return `"${random.pick(names)}"`;
  const pieces = Array.from({ length: random.upTo(6) }, () => random.pick(characters));
  const middle = random.chance(0.3) ? "y".repeat(550 + random.upTo(8)) : "";
  const end = random.chance(0.3) ? random.pick(characters) : "";
  return `"${"x".repeat(random.pick([0, 0, 0, 27, 30, 31, 32, 33, 70]))}${pieces.join("")}${middle}${end}"`;
}

function space(random: SeededRandom): string {
  return random.chance(0.2) ? random.pick([" ", "\n", "\r\n\t", "  "]) : "";
}

function mutate(text: string, random: SeededRandom): string {
  let spoilt = text;
  for (let left = 1 + random.upTo(2); left > 0; left--) {
    const at = random.upTo(spoilt.length);
    const removed = random.upTo(2);
    const added = random.chance(0.5) ? random.pick(mistakes) : "";
    spoilt = spoilt.slice(0, at) + added + spoilt.slice(at + removed);
  }
  return spoilt;
}

const noMembers = new RequestMembers([], []);

const names = ["text", "content", "model", "a", "", "\\u006dodel", "__proto__x", "constructor"] as const;
const scalars = [
  "0",
  "-1.5e+10",
  "12345678901234567890",
  "true",
  "false",
  "null",
  '""',
  "1e400",
  "{}",
  "[]",
] as const;
const characters = ["a", "é", "😀", "\\\\", '\\"', "\\/", "\\n", "\\u0041", "\\ud83d", ..."{}[],: "] as const;
const mistakes = ["//", "nul", "\\x", "\\u12", '"', "\\", ..."{}[],:0-.e \u0000\n\ufeff'"] as const;
