import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { countValues, isKey, type ScanResult, scanMembers } from "../../gateway/wire/json.ts";
import { LongTexts } from "../../gateway/wire/long-texts.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { jsonMembers, spellObject } from "../helpers/spell-object.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";

type Found = { result: ScanResult; members: { key: string; value: string }[] };

function scan(bytes: Buffer, depthMax = Infinity): Found {
  const members: Found["members"] = [];
  const result = scanMembers(bytes, 0, bytes.length, depthMax, (keyStart, keyEnd, start, end) => {
    members.push({
      key: bytes.toString("utf8", keyStart, keyEnd),
      value: bytes.toString("utf8", start, end),
    });
  });
  return { result, members };
}

test("the scanned members equal those of JSON.parse for any object", (t) => {
  const property = fc.property(jsonMembers(), fc.integer(), (members, seed) => {
    const text = spellObject(members, seededRandom(seed));
    const found = scan(Buffer.from(text));
    assert.equal(found.result, "complete");
    assert.equal(found.members.length, members.length);
    const parsed = found.members.map(
      ({ key, value }) => [JSON.parse(`"${key}"`), JSON.parse(value)] as const,
    );
    assert.deepEqual(new Map(parsed), new Map(Object.entries(JSON.parse(text))));
  });
  t.notThrows(() => fc.assert(property, { numRuns: 150 }));
});

test("a key is recognized with any of its characters escaped", (t) => {
  const property = fc.property(jsonMembers(), fc.integer(), (members, seed) => {
    const bytes = Buffer.from(spellObject(members, seededRandom(seed)));
    const isModel: boolean[] = [];
    scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd) => {
      isModel.push(isKey(bytes, keyStart, keyEnd, "model"));
    });
    assert.deepEqual(
      isModel,
      members.map(([key]) => key === "model"),
    );
  });
  t.notThrows(() => fc.assert(property, { numRuns: 150 }));
});

test("whitespace and pretty-printing change only the positions", (t) => {
  const value = { model: "a/b", messages: [{ role: "user", content: "x" }], n: 1, last: null };
  const plain = scan(Buffer.from(JSON.stringify(value))).members;
  const pretty = scan(Buffer.from(`\r\n\t ${JSON.stringify(value, null, "\t")}\n`)).members;
  t.deepEqual(
    pretty.map(({ key, value: text }) => [key, JSON.parse(text)]),
    plain.map(({ key, value: text }) => [key, JSON.parse(text)]),
  );
});

test("the last value ends at the brace or the preceding space, also for literals", (t) => {
  for (const last of ["1", "-0.5e+10", "true", "null", '""', "{}", "[]", '"\\\\"', "12345678901234567890"]) {
    for (const space of ["", " ", "\n"]) {
      const members = [
        { key: "a", value: "[1]" },
        { key: "z", value: last },
      ];
      t.deepEqual(scan(Buffer.from(`{"a":[1],"z":${last}${space}}`)), { result: "complete", members });
    }
  }
});

test("strings around 32 bytes end at their own quote after any backslashes", (t) => {
  for (let length = 0; length < 70; length++) {
    for (const part of ["\\", '"', '\\"', 'a\\\\"', '"\\']) {
      const content = "a".repeat(length) + part.repeat(1 + (length % 9));
      const text = JSON.stringify({ [content]: content, "": 1 });
      const values = scan(Buffer.from(text)).members.map(({ value }) => JSON.parse(value));
      t.deepEqual(values, [content, 1]);
    }
  }
});

test("the depth limit counts the object itself and no brackets in strings", (t) => {
  const nested = (depth: number) => Buffer.from(`{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`);
  t.is(scan(nested(8), 8).result, "complete");
  t.is(scan(nested(9), 8).result, "too deep");
  t.is(scan(Buffer.from('{"a":[[]],"b":{"c":[[[[]]]]}}'), 5).result, "too deep");
  t.is(scan(Buffer.from(`{"a":"${"[{".repeat(50)}"}`), 2).result, "complete");
});

test("a scan that has seen enough stops", (t) => {
  const bytes = Buffer.from('{"a":1,"b":2,"c":3}');
  let visits = 0;
  const result = scanMembers(bytes, 0, bytes.length, Infinity, () => ++visits < 2);
  t.is(result, "stopped");
  t.is(visits, 2);
});

test("an invalid object is reported as invalid", (t) => {
  for (const text of [
    "",
    " ",
    "[1]",
    "null",
    '"a"',
    "{",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1 "b":2}',
    "{a:1}",
  ]) {
    t.is(scan(Buffer.from(text)).result, "not an object", text);
  }
});

test("only the bytes between start and end count", (t) => {
  const bytes = Buffer.from('{"x":"{"a":"b","c":1}"}');
  const keys: string[] = [];
  const result = scanMembers(bytes, 6, 21, Infinity, (keyStart, keyEnd) => {
    keys.push(bytes.toString("utf8", keyStart, keyEnd));
  });
  t.is(result, "complete");
  t.deepEqual(keys, ["a", "c"]);
});

test("any bytes are scanned without errors or positions out of range", (t) => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", " ", '{"a":', '"b"')
      .map((text) => Buffer.from(text)),
  );
  const property = fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
    const bytes = Buffer.concat([Buffer.from("{"), ...pieces]);
    scanMembers(bytes, 0, bytes.length, 16, (keyStart, keyEnd, start, end) => {
      isKey(bytes, keyStart, keyEnd, "model");
      assert.ok(0 < keyStart && keyStart <= keyEnd && keyEnd < start && start <= end && end <= bytes.length);
    });
  });
  t.notThrows(() => fc.assert(property, { numRuns: 2_000 }));
});

for (const [what, unit] of [
  ["backslashes", "\\\\"],
  ["escaped quotes", '\\"'],
  ["quotes after long runs of backslashes", `${"\\".repeat(2_000)}\\"`],
  ["members", '","a":"'],
  ["brackets", '",[[],{"b":"'],
] as const) {
  // A linear scan needs far less than 5 s of CPU time. A quadratic scan needs minutes.
  test(`4 MB of ${what} are scanned in linear time`, (t) => {
    const bytes = Buffer.from(`{"a":"${unit.repeat(4_000_000 / unit.length)}","z":1}`);
    const before = process.cpuUsage();
    scan(bytes);
    t.true(cpuMsSince(before) < 5_000);
  });
}

test("a long text is scanned once, also if it is invalid", (t) => {
  const bytes = Buffer.from(`{"content":"${"x".repeat(2_000_000)}\n${'\\"'.repeat(1_000_000)}"}`);
  const before = process.cpuUsage();
  const texts = new LongTexts(bytes);
  t.is(
    scanMembers(bytes, 0, bytes.length, Infinity, () => {}, countValues(10), texts),
    "complete",
  );
  t.true(cpuMsSince(before) < 5_000);
});
