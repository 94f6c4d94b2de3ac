import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { spliceRequest, readChatRequest } from "../../../gateway/dialects/chat/chat.ts";
import type { ChatQuirks } from "../../../gateway/wire/chat-completion.ts";
import { anyCharacter } from "../../helpers/any-character.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import { type JsonMembers, jsonMembers, spellObject } from "../../helpers/spell-object.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";

const upstreamModel = { name: 'upstream "model" \\ é', outputTokensMax: null };
const openAi = {
  maxTokensName: "max_completion_tokens",
  developerRole: "developer",
  extensions: [],
} as const;
const upstreamJson = JSON.stringify(upstreamModel.name);

/** The gateway rejects these names if they are written with escapes. */
const plainKeys = ["model", "messages", "stream", "stream_options"];

function splice(text: string): string {
  return spliceWith(text, openAi).toString("utf8");
}

function spliceWith(text: string, quirks: ChatQuirks): Buffer {
  return Buffer.concat(spliceRequest(readChatRequest(Buffer.from(text), bodyLimits), upstreamModel, quirks));
}

function requestMembers(): fc.Arbitrary<JsonMembers> {
  const messages = fc
    .tuple(fc.constantFrom("user", "system"), fc.string({ unit: anyCharacter }))
    .map(([role, content]) => [{ role, content }]);
  const streamOptions = fc.oneof(
    fc.record({ include_usage: fc.boolean(), include_obfuscation: fc.boolean() }, { requiredKeys: [] }),
    fc.constant(null),
  );
  const known = fc.tuple(messages, fc.option(fc.boolean()), fc.option(streamOptions, { nil: undefined }));
  // `n` is validated, and its name is short enough to occur by chance.
  const unknown = jsonMembers().map((members) =>
    members.filter(
      ([key]) => !["model", "messages", "stream", "stream_options", "n"].includes(key.toLowerCase()),
    ),
  );
  return fc
    .tuple(known, unknown, fc.string({ unit: anyCharacter }), fc.integer())
    .map(([[ownMessages, stream, options], others, model, seed]) => {
      const members: JsonMembers = [
        ["model", model],
        ["messages", ownMessages],
        ...(stream === null ? [] : [["stream", stream] satisfies [string, unknown]]),
        ...(options === undefined ? [] : [["stream_options", options] satisfies [string, unknown]]),
      ];
      const random = seededRandom(seed);
      for (const member of others) members.splice(random.upTo(members.length), 0, member);
      return members;
    });
}

test("the upstream receives the client's bytes except for model and stream usage", (t) => {
  const property = fc.property(requestMembers(), fc.integer(), (members, seed) => {
    const text = spellObject(members, seededRandom(seed), plainKeys);
    const choice = JSON.parse(text);
    const expected = { ...choice, model: upstreamModel.name };
    if (choice.stream === true) expected.stream_options = { ...choice.stream_options, include_usage: true };
    assert.deepEqual(JSON.parse(splice(text)), expected);
  });
  t.notThrows(() => fc.assert(property, { numRuns: 150 }));
});

test("without a stream only the model's bytes are replaced", (t) => {
  const property = fc.property(requestMembers(), fc.integer(), (members, seed) => {
    const random = seededRandom(seed);
    const others = members.filter(([key]) => !key.startsWith("stream") && key !== "model");
    const [before, after] = [
      spellObject(others, random, plainKeys).trim(),
      spellObject(others, random, plainKeys).trim(),
    ];
    const frame = (model: string) => `${before.slice(0, -1)}, "model" :${model}\n,"nested":${after}} `;
    assert.equal(splice(frame('"a/b"')), frame(upstreamJson));
  });
  t.notThrows(() => fc.assert(property, { numRuns: 200 }));
});

test("huge numbers, doubled unknown fields and escapes arrive as written", (t) => {
  const frame = (model: string) =>
    `\r\n{"seed":123456789012345678901234567890,"temperature":1.0,"a":1e-400,"a":-0.0, "model":${model},` +
    `"messages":[{"role":"user","content":"\\u00e9 é 😀 \\ud83d\\ude00 \\/"}],"x":{"model":"a/b","stream":true},"x":[]}\n\n`;
  t.is(splice(frame('"a/b"')), frame(upstreamJson));
  t.is(splice(frame('"a\\/b"')), frame(upstreamJson));
});

const messages = '"messages":[{"role":"user","content":"x"}]';

for (const [what, sent, expected] of [
  [
    "added at the front",
    `{"model":"a/b",${messages},"stream":true}`,
    `{"stream_options":{"include_usage":true},"model":${upstreamJson},${messages},"stream":true}`,
  ],
  [
    "put for null",
    `{"stream_options": null ,"stream":true,"model":"a/b",${messages}}`,
    `{"stream_options": {"include_usage":true} ,"stream":true,"model":${upstreamJson},${messages}}`,
  ],
  [
    "put for false",
    `{"model":"a/b","stream":true,${messages},"stream_options":{"include_usage":false,"x":1}}`,
    `{"model":${upstreamJson},"stream":true,${messages},"stream_options":{"include_usage":true,"x":1}}`,
  ],
  [
    "put beside a long text",
    `{"model":"a/b","stream":true,${messages},"stream_options":{"text":"${"x".repeat(600)}"}}`,
    `{"model":${upstreamJson},"stream":true,${messages},"stream_options":{"text":"${"x".repeat(600)}","include_usage":true}}`,
  ],
  [
    "left alone where the client asked for it",
    `{"stream_options" : { "include_usage" : true },"model":"a/b",${messages},"stream":true}`,
    `{"stream_options" : { "include_usage" : true },"model":${upstreamJson},${messages},"stream":true}`,
  ],
  [
    "not asked for without a stream",
    `{"model":"a/b",${messages},"stream":false}`,
    `{"model":${upstreamJson},${messages},"stream":false}`,
  ],
] as const) {
  test(`the request for usage is ${what}, and the other bytes stay in place`, (t) => {
    t.is(splice(sent), expected);
  });
}

for (const doubled of [
  `{"model":"a/b","model":"c/d",${messages}}`,
  `{"model":"a/b",${messages},"stream":true,"model":"c/d"}`,
  `{"model":"c/d",${messages},"stream":true,"stream":false}`,
  `{"model":"c/d",${messages},"stream":false,"stream":true}`,
  `{"model":"c/d",${messages},"stream_options":{"include_usage":false},"stream":true,"stream_options":{"x":1}}`,
]) {
  test(`of a duplicated member the upstream receives the checked one: ${doubled}`, (t) => {
    const choice = JSON.parse(doubled);
    const isStream = choice.stream === true;
    const text = splice(doubled);
    t.deepEqual(JSON.parse(text), {
      ...choice,
      model: upstreamModel.name,
      ...(isStream && { stream_options: { ...choice.stream_options, include_usage: true } }),
    });
    for (const name of ["model", "stream", "stream_options"]) t.true(text.split(`"${name}":`).length <= 2);
  });
}

test("a limit of null does not replace the other limit", (t) => {
  const sent = `{"model":"a/b",${messages},"max_tokens":5,"max_completion_tokens":null}`;
  const quirks = { ...openAi, maxTokensName: "max_tokens" } as const;
  const bytes = spliceWith(sent, quirks);
  const { max_tokens: limit, ...rest } = JSON.parse(bytes.toString("utf8"));
  t.is(limit, 5);
  t.false("max_completion_tokens" in rest);
});

test("a `__proto__` member stays an ordinary field", (t) => {
  const sent = `{"__proto__":{"a":1},"model":"x","model":"a/b",${messages}}`;
  t.is(splice(sent), `{"__proto__":{"a":1},"model":${upstreamJson},${messages}}`);
});
