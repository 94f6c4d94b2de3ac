import test from "ava";
import { cpuMsSince } from "../../helpers/cpu-ms-since.ts";
import fc from "fast-check";
import OpenAI from "openai";
import type { ShownError } from "../../../gateway/dialects/dialect.ts";
import { ResponseStreamWriter } from "../../../gateway/dialects/responses/response-stream-writer.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import type { ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { loadOpenAiSchemas } from "../../helpers/openai-schemas.ts";
import { envelopeFor, gatherItems, readEvents, writeStream } from "./read-events.ts";
import { chunk, piece, request } from "./sample-stream.ts";

test("calls may be interleaved or share an index", (t) => {
  const started = (index: number, id: string) => piece(index, "{", { id, name: "f" });
  const callsOf = (choices: ChunkChoice[]) =>
    gatherItems(readEvents(writeStream(request, choices))).map((item) => {
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
  const [item] = gatherItems(
    readEvents(
      writeStream(request, [chunk({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] })]),
    ),
  );
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
        t.notThrows(() =>
          readEvents(
            writeStream(
              request,
              odd.map((delta) => chunk(delta)),
            ),
          ),
        );
      },
    ),
  );
  const [item] = gatherItems(
    readEvents(
      writeStream(request, [chunk({ tool_calls: [{ id: "a", function: { name: "f", arguments: null } }] })]),
    ),
  );
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

const schema = loadOpenAiSchemas();
const testWithSchema = schema === null ? test.skip : test;

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
    const headers = { "content-type": "text/event-stream" };
    const client = new OpenAI({
      apiKey: "x",
      maxRetries: 0,
      fetch: async () => new Response(text, { headers }),
    });
    const stream = await client.responses.create({ model: "a/b", input: "x", stream: true });
    const error = await t.throwsAsync(async () => {
      for await (const _ of stream);
    });
    t.true(error instanceof OpenAI.APIError);
    t.is(error?.message, broken.message);
    t.like(error, { type: "server_error", code: "upstream_error" });
  }
});
