import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { chat, readChatRequest, spliceRequest } from "../../../gateway/dialects/chat/chat.ts";
import { ChunkRewriter, type RewrittenChunks } from "../../../gateway/dialects/chat/chunk-rewriter.ts";
import { OutputMeter } from "../../../gateway/usage/counting/token-meter.ts";
import { EventSplitter } from "../../../gateway/wire/bytes.ts";
import type { ChatQuirks } from "../../../gateway/wire/chat-completion.ts";
import { anyCharacter } from "../../helpers/any-character.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";
import { cutAnywhere, seededRandom } from "../../helpers/seeded-random.ts";
import { type JsonMembers, jsonMembers, spellObject } from "../../helpers/spell-object.ts";
import { envelope } from "../messages/messages-dialect.ts";

const slug = "test/model";
const modelJson = JSON.stringify(slug);

type Relayed = Pick<RewrittenChunks, "usage" | "ending"> & { text: string };

function relay(pieces: Buffer[], includeUsage = false): Relayed {
  const splitter = new EventSplitter(1_000_000);
  const meter = new OutputMeter(chat.native.outputNames());
  const rewriter = new ChunkRewriter({ slug, choicesMin: 1, includeUsage, meter });
  const relayed: Relayed = { text: "", usage: null, ending: null };
  for (const piece of pieces) {
    const events = splitter.push(piece);
    if (events === null || relayed.ending !== null) continue;
    const { text, usage, ending } = rewriter.rewrite(events);
    relayed.text += Buffer.from(text, "latin1").toString("utf8");
    relayed.usage = usage ?? relayed.usage;
    relayed.ending = ending;
  }
  return relayed;
}

/** One piece of a stream: as the upstream sends it, and as the client receives it. */
type Piece = { sent: string; got: string; isUsage?: true };

const traps = ['"model":"x"', ',"usage":{"prompt_tokens":1}', '"error":{}', "data: [DONE]\n\n", "é😀", '\\"'];

/** All members of a chunk except `model`. The nested `model`, `usage` and `error` must stay unchanged. */
const otherMembers = fc
  .tuple(jsonMembers(), fc.constantFrom(...traps))
  .map(([members, content]): JsonMembers => {
    const choice = { delta: { content, model: "x", usage: {}, error: 1 } };
    const unknown = members.filter(([key]) => !["model", "usage", "error", "choices"].includes(key));
    return [["choices", [choice]], ...unknown, ["usage", null], ["error", null]];
  });

const chunk = fc.tuple(otherMembers, fc.integer(), fc.boolean()).map(([members, seed, hasModel]): Piece => {
  const random = seededRandom(seed);
  const all = [...members];
  // A unique number marks the position of the model's name.
  if (hasModel) all.splice(random.upTo(all.length), 0, ["model", 7_654_321.25]);
  const json = spellObject(all, random)
    .replaceAll(/[\r\n]/g, " ")
    .trim();
  return hasModel
    ? { sent: json.replace("7654321.25", '"the \\"model\\": }"'), got: json.replace("7654321.25", modelJson) }
    : { sent: json, got: json.replace("{", `{"model":${modelJson},`) };
});

const usageJson = (model: string) =>
  `{"choices":[ ],"model":${model},"usage":{"prompt_tokens":5,"completion_tokens":2}}`;

const pieces = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: chunk },
    fc.constant<Piece>({ sent: usageJson('"x"'), got: usageJson(modelJson), isUsage: true }),
    fc.constantFrom<Piece>({ sent: "", got: "" }),
  ),
  { maxLength: 6 },
);

test("a stream cut anywhere arrives unchanged except for the model's slug", (t) => {
  const property = fc.property(
    pieces,
    fc.constantFrom("\n", "\r\n"),
    fc.constantFrom("data: ", "data:", "data:  "),
    fc.boolean(),
    fc.integer(),
    fc.integer({ min: 1, max: 200 }),
    (stream, lineEnd, field, includeUsage, seed, pieceBytesMax) => {
      const write = (json: string) => `${json === "" ? ": comment" : field + json}${lineEnd}${lineEnd}`;
      const bytes = Buffer.from(stream.map(({ sent }) => write(sent)).join(""));
      const relayed = relay(cutAnywhere(bytes, seededRandom(seed), pieceBytesMax), includeUsage);
      const kept = stream.filter(({ isUsage }) => !isUsage || includeUsage);
      assert.equal(relayed.text, kept.map(({ got }) => write(got)).join(""));
      assert.equal(relayed.ending, null);
      const hasUsage = stream.some(({ isUsage }) => isUsage);
      assert.equal(relayed.usage?.outputTokens ?? null, hasUsage ? 2 : null);
      assert.deepEqual(relayed, relay([bytes], includeUsage));
    },
  );
  t.notThrows(() => fc.assert(property, { numRuns: 300 }));
});

const endings = [
  ["done", "data: [DONE]"],
  ["done", "data:[DONE] "],
  ["error", 'data: {"error":{"message":"no"}}'],
  ["error", 'data: {"error":"no"}'],
  ["error", 'data: {"id":"1","model":"x","choices":[],"error":{"message":"no"}}'],
  ["error", 'data: { "model" : "x" , "error" : {"code":500} , "usage" : null }'],
  ["garbage", "data: <html>"],
  ["garbage", "data: [DONE"],
  ["garbage", "data: null"],
  ["garbage", 'data: ["model"]'],
  ["garbage", 'data: {"id":"1","cho'],
  ["garbage", 'data: {"model":"x","choices":[{"delta":{"content":"torn'],
] as const;

for (const [kind, last] of endings) {
  test(`${last} ends a stream as ${kind}: the data before is kept, the rest dropped`, (t) => {
    const sent = 'data: {"model":"x"}\n\n';
    for (const lineEnd of ["\n", "\r\n"]) {
      const bytes = Buffer.from(`${sent}: comment\n\n${last}${lineEnd}${lineEnd}${sent}data: [DONE]\n\n`);
      for (const pieceBytesMax of [1, 7, bytes.length]) {
        const { text, ending } = relay(cutAnywhere(bytes, seededRandom(pieceBytesMax), pieceBytesMax));
        t.is(ending?.kind, kind);
        t.is(text, 'data: {"model":"test/model"}\n\n: comment\n\n');
        if (ending?.kind === "error") t.true(ending.payload.includes('"error"'));
      }
    }
  });
}

test('an `"error": null` is not an error', (t) => {
  const { text, ending } = relay([Buffer.from('data: {"error": null,"model":"x","choices":[]}\n\n')]);
  t.is(ending, null);
  t.is(text, 'data: {"error": null,"model":"test/model","choices":[]}\n\n');
});

test("an empty chunk receives the slug and stays valid JSON", (t) => {
  for (const empty of ["{}", "{ }"]) {
    const { text } = relay([Buffer.from(`data: ${empty}\n\n`)]);
    t.deepEqual(JSON.parse(text.slice("data: ".length)), { model: "test/model" });
  }
});

test("a withheld event leaves no name or id for the next event", (t) => {
  for (const [withheld, kind] of [
    [`data: ${usageJson('"x"')}`, undefined],
    ['data: {"error":{"message":"no"}}', "error"],
    ["data: <html>", "garbage"],
  ]) {
    const { text, ending } = relay([Buffer.from(`event: chunk\nid: 7\n${withheld}\n\n`)]);
    t.is(text, "");
    t.is(ending?.kind, kind as "error" | undefined);
  }
});

test("usage is read from any position and stays in a chunk with choices", (t) => {
  const withUsage = (model: string) =>
    `data: {"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens":2},"choices":[{"delta":{}}],"model":${model}}\n\n`;
  const { text, usage } = relay([Buffer.from(withUsage('"x"'))]);
  t.is(text, withUsage(modelJson));
  t.deepEqual(usage, {
    inputTokens: 5,
    outputTokens: 2,
    cachedInputTokens: 3,
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  });
});

test("lines without data pass unchanged", (t) => {
  const text = ': ping\n\nevent: x\nid: 1\nretry: 5\ndata:\ndatax: {"model":"x"}\n\n\n\n';
  t.is(relay([Buffer.from(text)]).text, text);
});

test("a chunk's result does not depend on earlier chunks", (t) => {
  // There are few heads and names, so chunks often start like the previous one. Some heads are prefixes of others.
  const head = fc.constantFrom(
    "{",
    '{"id":"1",',
    '{"id":"1","x":{"model":"a"},',
    '{"id":"1","x":"\\"model\\":",',
    '{ "id":"1",',
  );
  const name = fc.constantFrom('"a"', '"ab"', '"a\\"b"', "1", "12", "null", '{"a":1}', '"é"', '"😀"');
  const rest = fc.constantFrom(
    "}",
    ',"choices":[{"delta":{"content":"é😀"}}]}',
    ',"usage":null}',
    "}  ",
    ' , "n":1}',
  );
  const event = fc
    .tuple(head, name, rest)
    .map(([before, model, after]) => Buffer.from(`data: ${before}"model":${model}${after}\n\n`));
  const property = fc.property(fc.array(event, { minLength: 2, maxLength: 6 }), (events) => {
    const alone = events.map((one) => relay([one]));
    const end = alone.findIndex(({ ending }) => ending !== null);
    const expected = end === -1 ? alone : alone.slice(0, end + 1);
    assert.equal(relay(events).text, expected.map(({ text }) => text).join(""));
    assert.equal(relay([Buffer.concat(events)]).text, relay(events).text);
  });
  t.notThrows(() => fc.assert(property, { numRuns: 300 }));
});

test("an event with two data lines stays in one piece", (t) => {
  const sent = 'data: {"model":"x","n":1}\n';
  const got = `data: {"model":${modelJson},"n":1}\n`;
  for (const [last, kind] of [
    ["data: [DONE]", "done"],
    ['data: {"error":{"message":"no"}}', "error"],
  ]) {
    const { text, ending } = relay([Buffer.from(`${sent}${last}\n\n`)]);
    t.is(text, got, last);
    t.is(ending?.kind, kind as "done" | undefined);
  }
});

for (const [place, chunkOf] of [
  ["before", (choices: string) => `{"choices":[${choices}],"model":"m"}`],
  ["after", (choices: string) => `{"model":"m","choices":[${choices}]}`],
] as const) {
  test(`each finish reason counts once, with choices ${place} the model`, (t) => {
    const meter = new OutputMeter(chat.native.outputNames());
    const rewriter = new ChunkRewriter({ slug, choicesMin: 2, includeUsage: false, meter });
    const send = (choices: string) => rewriter.rewrite(Buffer.from(`data: ${chunkOf(choices)}\n\n`));
    send('{"index":0,"finish_reason":null}');
    send('{"index":0,"finish_reason":"stop"}');
    t.false(rewriter.isFinished);
    send('{"index":1,"finish_reason":"length"}');
    t.true(rewriter.isFinished);
  });
}

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

test("in a translated stream each choice begins with its role", (t) => {
  const request = readChatRequest(Buffer.from(`{"model":"a/b",${messages}}`), bodyLimits);
  const writer = chat.createStreamWriter(envelope, request);
  const roles = [0, 1, 0, 1].map((index) => {
    const event = writer.write({ index, delta: { content: "x" }, finish_reason: null }, null);
    return JSON.parse(event.replace("data: ", "")).choices[0].delta.role;
  });
  t.deepEqual(roles, ["assistant", "assistant", undefined, undefined]);
});
