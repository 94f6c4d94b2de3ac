import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { responses } from "../../gateway/dialects/responses/responses.ts";
import { anthropic } from "../../gateway/providers/anthropic/anthropic.ts";
import { bedrock } from "../../gateway/providers/bedrock/bedrock.ts";
import { gemini } from "../../gateway/providers/gemini/gemini.ts";
import { openAiCompatible } from "../../gateway/providers/openai-compatible/openai-compatible.ts";
import type { ChatRequestBody } from "../../gateway/wire/chat-completion.ts";
import { parseExact, parseExactParts } from "../../gateway/wire/exact-numbers.ts";
import { countValues, isKey, scanMembers, type ScanResult } from "../../gateway/wire/json.ts";
import { LongTexts } from "../../gateway/wire/long-texts.ts";
import { invalidValue, unsupportedValue } from "../../gateway/wire/parameter-errors.ts";
import { parseAnswer, parseEvent } from "../../gateway/wire/parse-upstream.ts";
import { requestFrom } from "../dialects/responses/read-events.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { jsonMembers, spellObject } from "../helpers/spell-object.ts";

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

const numbers = [
  "2512292042121000001",
  "9007199254740993",
  "-12345678901234567890",
  "1.0",
  "0.10",
  "100.00",
  "1e3",
  "1E-7",
  "-0",
  "0.1000000000000000055",
  "1e999",
];

for (const number of numbers) {
  test(`${number} keeps its text, wherever it stands`, (t) => {
    for (const text of [number, `[${number}]`, `{"a":${number}}`, `{"a":[1,${number},{"b":${number}}]}`]) {
      t.is(JSON.stringify(parseExact(text)), text);
    }
  });

  test(`${number} is a plain number outside the input of a tool call`, (t) => {
    const parsed = parseExactParts(`{"usage":{"n":${number}},"calls":[{"args":{"n":${number}}}]}`);
    const { usage, calls } = parsed as { usage: { n: unknown }; calls: unknown };
    t.is(typeof usage.n, "number");
    t.is(JSON.stringify(calls), `[{"args":{"n":${number}}}]`);
  });
}

test("numbers that JavaScript writes unchanged stay numbers", (t) => {
  t.deepEqual(parseExact('{"a":[1,-2,0.5,1.25,9007199254740991,"1.0",null]}'), {
    a: [1, -2, 0.5, 1.25, 9007199254740991, "1.0", null],
  });
});

const upstreamModel = { name: "model", outputTokensMax: null };
const args = `{"id":2512292042121000001,"price":1.0,"list":[-0,1e3]}`;
const regional = "https://bedrock-runtime.us-east-1.amazonaws.com";
const kinds = [
  { provider: openAiCompatible, baseUrl: "https://upstream.example/v1", inRequest: JSON.stringify(args) },
  { provider: anthropic, baseUrl: "https://upstream.example", inRequest: `"input":${args}` },
  { provider: gemini, baseUrl: "https://upstream.example", inRequest: `"args":${args}` },
  { provider: bedrock, baseUrl: regional, inRequest: `"input":${args}` },
];

for (const { provider, baseUrl, inRequest } of kinds) {
  const settings = { baseUrl, secret: "secret", preset: null };
  const chat = provider.connect(settings).apis(upstreamModel)["chat/completions"];

  test(`${provider.label}: the numbers in a history's arguments reach the upstream as text`, (t) => {
    const call = { id: "c1", type: "function", function: { name: "f", arguments: args } };
    const body = {
      model: "model",
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: "done" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    };
    const sent = JSON.stringify(chat.buildRequest(body as unknown as ChatRequestBody, upstreamModel));
    t.true(sent.includes(inRequest), sent);
  });
}

const answers = {
  "OpenAI-compatible": `{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${args}}}]}}]}`,
  Anthropic: `{"content":[{"type":"tool_use","id":"c","name":"f","input":${args}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
  "Google Gemini": `{"candidates":[{"index":0,"finishReason":"STOP","content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]}}]}`,
  "Amazon Bedrock": `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"f","input":${args}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1}}`,
};

for (const { provider, baseUrl } of kinds) {
  const settings = { baseUrl, secret: "secret", preset: null };
  const chat = provider.connect(settings).apis(upstreamModel)["chat/completions"];

  test(`${provider.label}: the numbers in an answer's arguments reach the client as text`, (t) => {
    const answer = answers[provider.label as keyof typeof answers];
    const { choices } = chat.readAnswer(parseExactParts(answer));
    t.is(choices[0]?.message.tool_calls?.[0]?.function.arguments, args);
  });
}

test("each number that JavaScript would change is found", (t) => {
  const { upTo, chance } = seededRandom(47);
  const digits = (count: number) => Array.from({ length: count }, () => upTo(9)).join("");
  for (let round = 0; round < 20_000; round++) {
    const whole = chance(0.3) ? "0" : `${1 + upTo(8)}${digits(upTo(19))}`;
    const fraction = chance(0.3) ? "" : `.${"0".repeat(upTo(7))}${digits(1 + upTo(17))}`;
    const exponent = chance(0.1) ? `e${digits(2)}` : "";
    const number = `${chance(0.5) ? "-" : ""}${whole}${fraction}${exponent}`;
    const text = `{"${number}":[${number}],"a":{"b":"\\"[${number}]"}}`;
    t.is(JSON.stringify(parseExact(text)), text);
  }
});

test("invalid numbers stay invalid", (t) => {
  for (const number of ["1.0.0", "01.0", "1.0e", "1e3e3", "-", "--0", "1.0-0", "00.0"]) {
    t.throws(() => parseExact(`[${number}]`), { instanceOf: SyntaxError }, number);
    t.throws(() => parseExactParts(`{"input":{"a":${number}}}`), { instanceOf: SyntaxError }, number);
  }
});

test("a nesting that cannot be written again is read as before", (t) => {
  const text = `{"input":{"a":${"[".repeat(20_000)}1.0${"]".repeat(20_000)}}}`;
  t.notThrows(() => parseExactParts(text));
});

test("too many numbers to keep are refused, and too many of an upstream are an error", (t) => {
  const many = `{"input":{"a":[${Array(50_001).fill("1.0").join(",")}]}}`;
  t.throws(() => parseExactParts(many), { code: "request_too_large" });
  t.throws(() => parseExact(many), { code: "request_too_large" });
  t.throws(() => parseAnswer(Buffer.from(many)), { code: "upstream_error", message: /too complex/ });
  t.throws(() => parseEvent(many), { code: "upstream_error", message: /too complex/ });
  t.notThrows(() => parseExactParts(many.replace(",1.0", "")));
});

const shown: [value: unknown, text: string][] = [
  [3, ": 3"],
  [-0.5, ": -0.5"],
  [true, ": true"],
  ["robot", ': "robot"'],
  ["", ': ""'],
];

for (const [value, text] of shown) {
  test(`an error quotes the value ${JSON.stringify(value)}`, (t) => {
    t.is(invalidValue("a", "must be b", value).message, `Invalid value for 'a'${text}. It must be b.`);
    t.is(
      unsupportedValue("a", "C has no such value. Use b.", value).message,
      `Unsupported value for 'a'${text}, because C has no such value. Use b.`,
    );
  });
}

const hidden = [
  undefined,
  null,
  { a: 1 },
  ["robot"],
  "two words",
  "robot\n",
  "é",
  "a".repeat(41),
  "a".repeat(1e7),
];

for (const value of hidden) {
  test(`an error leaves out ${JSON.stringify(value)?.slice(0, 20)} (${String(value).length} characters)`, (t) => {
    t.is(invalidValue("a", "must be b", value).message, "Invalid value for 'a'. It must be b.");
    t.is(
      unsupportedValue("a", "C has no such value. Use b.", value).message,
      "Unsupported value for 'a', because C has no such value. Use b.",
    );
  });
}

test("the name of an unknown tool is not quoted", (t) => {
  const tools = [{ type: "function", name: "run", parameters: {} }];
  const body = { model: "m", input: "x", tools, tool_choice: { type: "function", name: "secret_plan" } };
  const error = t.throws(() => responses.toChatRequest(requestFrom(body)));
  t.true(error.message.includes("tool_choice.name"));
  t.false(error.message.includes("secret_plan"), error.message);
});
