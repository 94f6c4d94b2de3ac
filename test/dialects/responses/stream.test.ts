import test from "ava";
import fc from "fast-check";
import OpenAI from "openai";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import type {
  ChunkChoice,
  ChunkDelta,
  CompletionChoice,
  FinishReason,
} from "../../../gateway/wire/chat-completion.ts";
import { envelopeFor, gatherItems, readEvents, type WrittenEvent, writeStream } from "./read-events.ts";
import { loadOpenAiSchemas } from "../../helpers/openai-schemas.ts";
import { chunk, piece, request } from "./sample-stream.ts";

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
