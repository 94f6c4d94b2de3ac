import test from "ava";
import OpenAI from "openai";
import type { ShownError } from "../../../gateway/dialects/dialect.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { envelopeFor, readEvents, writeStream } from "./read-events.ts";
import { loadOpenAiSchemas } from "../../helpers/openai-schemas.ts";
import { chunk, piece, request } from "./sample-stream.ts";

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

/** Returns the client's bytes when the stream breaks after this many deltas. */
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
