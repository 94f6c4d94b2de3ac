import test from "ava";
import fc from "fast-check";
import OpenAI from "openai";
import type { ShownError } from "../../../gateway/dialects/dialect.ts";
import { ResponseStreamWriter } from "../../../gateway/dialects/responses/response-stream-writer.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import type {
  ChunkChoice,
  ChunkDelta,
  CompletionChoice,
  FinishReason,
} from "../../../gateway/wire/chat-completion.ts";
import { cpuMsSince } from "../../helpers/cpu-ms-since.ts";
import { loadOpenAiSchemas } from "../../helpers/openai-schemas.ts";
import { chunk, piece } from "../chunks.ts";
import {
  envelopeFor,
  gatherItems,
  readEvents,
  requestFrom,
  writeStream,
  type WrittenEvent,
} from "./read-events.ts";

const request = requestFrom({
  model: "a/b",
  input: "x",
  stream: true,
  include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
  tools: [
    { type: "function", name: "f", parameters: {} },
    { type: "custom", name: "c" },
    { type: "shell" },
    { type: "namespace", name: "n", description: "", tools: [{ type: "function", name: "f" }] },
  ],
});
const itemsOf = (choices: ChunkChoice[]) => gatherItems(readEvents(writeStream(request, choices)));

const schema = loadOpenAiSchemas();
const testWithSchema = schema === null ? test.skip : test;

const deltas = fc
  .array(
    fc.oneof(
      fc.record({
        kind: fc.constantFrom("content", "refusal", "reasoning_content"),
        text: fc.string({ maxLength: 5 }),
      }),
      fc.record({
        kind: fc.constant("call"),
        index: fc.nat(3),
        name: fc.constantFrom("f", "c", "shell", "n__f", "unknown"),
        text: fc.string({ maxLength: 5 }),
      }),
      fc.record({ kind: fc.constant("details"), index: fc.nat(2), text: fc.string({ maxLength: 5 }) }),
    ),
    { maxLength: 12 },
  )
  .map((steps) => {
    const begun = new Set<number>();
    return steps.map((step): ChunkChoice => {
      if (step.kind === "details") {
        return chunk({ reasoning_details: [{ type: "reasoning.text", format: "x", ...step }] });
      }
      if (!("name" in step)) return chunk({ [step.kind]: step.text });
      const isNew = !begun.has(step.index);
      begun.add(step.index);
      return piece(step.index, step.text, isNew ? { id: `call_${step.index}`, name: step.name } : undefined);
    });
  });

const ends = fc.constantFrom<(FinishReason | null)[]>("stop", "length", "tool_calls", "content_filter", null);

test("every stream sends each item once and in order, and its end repeats them", (t) => {
  fc.assert(
    fc.property(deltas, ends, (choices, end) => {
      const events = readEvents(writeStream(request, [...choices, chunk({}, end)]));
      t.deepEqual(
        events.map((event) => event.sequence_number),
        events.map((_, index) => index),
      );
      t.deepEqual(
        events.slice(0, 2).map(({ type }) => type),
        ["response.created", "response.in_progress"],
      );
      const last = events.at(-1) as WrittenEvent & { response: { status: string; output: unknown[] } };
      t.is(last.type, `response.${last.response.status}`);
      t.is(last.response.status, end === "length" || end === "content_filter" ? "incomplete" : "completed");
      t.deepEqual(gatherItems(events), last.response.output);
      const count = (kind: keyof ChunkDelta) => choices.map(({ delta }) => delta[kind] ?? "").join("");
      t.is(textOf(last.response.output, "output_text", "text"), count("content"));
      t.is(textOf(last.response.output, "refusal", "refusal"), count("refusal"));
    }),
  );
});

testWithSchema("every event of every stream and every response match OpenAI's schema", (t) => {
  fc.assert(
    fc.property(deltas, ends, (choices, end) => {
      for (const event of readEvents(writeStream(request, [...choices, chunk({}, end)]))) {
        t.deepEqual(schema?.faultsOfEvent(event), [], JSON.stringify(event));
      }
      const message = Object.assign({}, ...choices.map(({ delta }) => delta)) as CompletionChoice["message"];
      const choice = { index: 0, message, logprobs: null, finish_reason: end ?? "stop" };
      const answer = responses.formatAnswer(
        { choices: [choice], usage: null },
        envelopeFor(request),
        request,
      );
      t.deepEqual(schema?.faultsOfAnswer(JSON.parse(JSON.stringify(answer))), []);
    }),
    { numRuns: 50 },
  );
});

testWithSchema("OpenAI's schema detects missing members", (t) => {
  t.deepEqual(
    schema?.faultsOfEvent({
      type: "response.refusal.delta",
      item_id: "m",
      output_index: 0,
      content_index: 0,
      delta: "x",
    }),
    [" must have required property 'sequence_number'"],
  );
  t.true((schema?.faultsOfAnswer({ id: "resp_1", object: "response" }).length ?? 0) > 0);
  t.deepEqual(schema?.faultsOfEvent({ type: "response.done" }), ["no event is called response.done"]);
});

test("OpenAI's library rebuilds the response of the last event from the stream", async (t) => {
  const choices = [
    chunk({ reasoning_content: "Think." }),
    chunk({ content: "Hello" }),
    piece(0, '{"a"', { id: "call_1", name: "n__f" }),
    piece(1, '{"input":"tex', { id: "call_2", name: "c" }),
    piece(2, '{"commands":["ls"]}', { id: "call_3", name: "shell" }),
    piece(3, "{}", { id: "call_4", name: "f" }),
    piece(0, ":1}"),
    piece(1, 't"}'),
    chunk({ content: "and more" }),
    chunk({}, "tool_calls"),
  ];
  const text = writeStream(request, choices, { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
  const stream = clientThatGets(text).responses.stream({ model: "a/b", input: "x" });
  const response = await stream.finalResponse();
  const last = readEvents(text).at(-1) as WrittenEvent & { response: { output: unknown[] } };
  t.is(response.output_text, "Helloand more");
  t.deepEqual(
    response.output.map(({ type }) => type),
    ["reasoning", "message", "function_call", "custom_tool_call", "function_call", "message", "shell_call"],
  );
  t.like(response.output, last.response.output);
  t.is(response.usage?.total_tokens, 3);
});

function textOf(output: unknown[], type: string, member: string): string {
  const parts = output.flatMap((item) => (item as { content?: Record<string, unknown>[] }).content ?? []);
  return parts.map((part) => (part["type"] === type ? part[member] : "")).join("");
}

function clientThatGets(text: string): OpenAI {
  const headers = { "content-type": "text/event-stream" };
  return new OpenAI({ apiKey: "x", maxRetries: 0, fetch: async () => new Response(text, { headers }) });
}

test("calls may be interleaved or share an index", (t) => {
  const started = (index: number, id: string) => piece(index, "{", { id, name: "f" });
  const callsOf = (choices: ChunkChoice[]) =>
    itemsOf(choices).map((item) => {
      const { call_id, arguments: args } = item as Record<string, unknown>;
      return [call_id, args];
    });
  t.deepEqual(callsOf([started(0, "a"), started(1, "b"), piece(0, "0}"), piece(1, "1}")]), [
    ["a", "{0}"],
    ["b", "{1}"],
  ]);
  t.deepEqual(callsOf([started(0, "a"), piece(0, "0}"), started(0, "b"), piece(0, "1}")]), [
    ["a", "{0}"],
    ["b", "{1}"],
  ]);
});

test("a call without an id receives an unused one", (t) => {
  const [item] = itemsOf([chunk({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] })]);
  t.like(item, { call_id: "call_01kahs6zxm8qv2c9d4r7tn5wbe_0", name: "f" });
});

test("only the first choice is written", (t) => {
  const other = { ...chunk({ content: "other" }), index: 1 };
  t.is(responses.createStreamWriter(envelopeFor(request), request).write(other, null), "");
});

test("deltas of an OpenAI imitation may contain anything", (t) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.dictionary(
          fc.constantFrom("content", "refusal", "reasoning_content", "reasoning_details", "tool_calls"),
          fc.jsonValue(),
        ),
      ),
      (odd) => {
        const choices = odd.map((delta) => chunk(delta));
        t.notThrows(() => readEvents(writeStream(request, choices)));
      },
    ),
  );
  const [item] = itemsOf([chunk({ tool_calls: [{ id: "a", function: { name: "f", arguments: null } }] })]);
  t.like(item, { call_id: "a", arguments: "" });
});

test("a response over the limit ends with an error", (t) => {
  const writer = new ResponseStreamWriter(envelopeFor(request), request, 1000);
  writer.write(chunk({ content: "x".repeat(700) }));
  const error = t.throws(() => writer.write(chunk({ content: "x".repeat(100) })), {
    instanceOf: GatewayError,
  });
  t.is(error?.code, "upstream_error");
  t.is(error?.message, "The provider's response is longer than 1000 characters. Lower max_output_tokens.");
  for (const delta of [{ refusal: "x".repeat(800) }, { reasoning_content: "x".repeat(800) }]) {
    const other = new ResponseStreamWriter(envelopeFor(request), request, 1000);
    t.throws(() => other.write(chunk(delta)), { instanceOf: GatewayError });
  }
  const many = new ResponseStreamWriter(envelopeFor(request), request, 1000);
  t.throws(() => {
    for (let index = 0; index < 5; index++) many.write(piece(index, "", { id: `c${index}`, name: "f" }));
  });
});

test("the cost of the final event depends on its length, not on the event count", (t) => {
  const writer = new ResponseStreamWriter(envelopeFor(request), request);
  const before = process.cpuUsage();
  for (let index = 0; index < 100_000; index++) writer.write(chunk({ content: "word " }));
  const end = writer.finish(null);
  const seconds = cpuMsSince(before) / 1000;
  t.true(end.length > 4 * 500_000);
  t.true(seconds < 10, `${seconds} s for 100,000 events`);
});

const broken: ShownError = {
  status: 502,
  message:
    "The provider's response was cut off before its end. Retry the request, and check the provider if the error persists.",
  type: "server_error",
  param: null,
  code: "upstream_error",
  requestId: "req_01kahs6zxm8qv2c9d4r7tn5wbe",
  details: null,
};

test("a complete error has OpenAI's form with all four members", (t) => {
  const { message, type, param, code } = broken;
  t.deepEqual(responses.formatError(broken), { error: { message, type, param, code } });
});

const choices = [
  chunk({ reasoning_content: "Think." }),
  chunk({ content: "Hello" }),
  piece(0, '{"a"', { id: "call_1", name: "f" }),
  piece(1, '{"input":"x', { id: "call_2", name: "c" }),
];

function brokenAfter(count: number, error: ShownError = broken): string {
  const writer = responses.createStreamWriter(envelopeFor(request), request);
  const written = choices.slice(0, count).map((choice) => writer.write(choice, null));
  return written.join("") + responses.formatErrorEvent(error, writer);
}

test("a broken stream ends with an error and a failed response, numbered in order", (t) => {
  for (let count = 0; count <= choices.length; count++) {
    const events = readEvents(brokenAfter(count));
    t.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, index) => index),
    );
    t.deepEqual(
      events.slice(-2).map(({ type }) => type),
      ["error", "response.failed"],
    );
    t.like(events.at(-1), {
      response: {
        id: "resp_01kahs6zxm8qv2c9d4r7tn5wbe",
        status: "failed",
        model: "a/b",
        error: { code: "server_error", message: broken.message },
      },
    });
    t.false(events.some(({ type }) => type === "response.completed" || type === "response.incomplete"));
  }
});

testWithSchema("both events match OpenAI's schema, also after an upstream's own stream", (t) => {
  for (const text of [brokenAfter(0), brokenAfter(3), responses.formatErrorEvent(broken, null)]) {
    for (const event of readEvents(text)) t.deepEqual(schema?.faultsOfEvent(event), [], event.type);
  }
});

test("an error code that Codex acts on is passed on", (t) => {
  for (const code of ["context_length_exceeded", "insufficient_quota", "rate_limit_exceeded"]) {
    const text = responses.formatErrorEvent({ ...broken, code }, null);
    t.like(readEvents(text).at(-1), { type: "response.failed", response: { error: { code } } });
  }
});

test("OpenAI's library throws the error with all its details", async (t) => {
  for (const text of [
    brokenAfter(2),
    writeStream(request, []).split("event: response.completed")[0] + responses.formatErrorEvent(broken, null),
  ]) {
    const stream = await clientThatGets(text).responses.create({ model: "a/b", input: "x", stream: true });
    const error = await t.throwsAsync(async () => {
      for await (const _ of stream);
    });
    t.true(error instanceof OpenAI.APIError);
    t.is(error?.message, broken.message);
    t.like(error, { type: "server_error", code: "upstream_error" });
  }
});
