import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { EventSplitter } from "../../../gateway/wire/bytes.ts";
import { ChunkRewriter, type RewrittenChunks } from "../../../gateway/dialects/chat/chunk-rewriter.ts";
import { chat } from "../../../gateway/dialects/chat/chat.ts";
import { OutputMeter } from "../../../gateway/usage/counting/token-meter.ts";
import { cutAnywhere, seededRandom } from "../../helpers/seeded-random.ts";
import { type JsonMembers, jsonMembers, spellObject } from "../../helpers/spell-object.ts";

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
