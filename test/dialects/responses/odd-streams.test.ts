import test from "ava";
import fc from "fast-check";
import { ResponseStreamWriter } from "../../../gateway/dialects/responses/response-stream-writer.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import type { ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
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
  const started = process.hrtime.bigint();
  for (let index = 0; index < 100_000; index++) writer.write(chunk({ content: "word " }));
  const end = writer.finish(null);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  t.true(end.length > 4 * 500_000);
  t.true(seconds < 10, `${seconds} s for 100,000 events`);
});
