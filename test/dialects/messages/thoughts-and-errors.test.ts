import test from "ava";
import fc from "fast-check";
import type { DialectRequest } from "../../../gateway/dialects/dialect.ts";
import { collectCountable } from "../../../gateway/dialects/messages/count-tokens.ts";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { sealPrefix, withoutSealedThoughts } from "../../../gateway/dialects/messages/sealed-detail.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import type { ChatAnswer } from "../../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { anyBody, anyJson, anyPiece } from "./any-shape.ts";
import {
  envelope,
  readEvents,
  requestFrom,
  says,
  toChatMessages,
  viaJson,
  writeStream,
} from "./messages-dialect.ts";
import { putTogether } from "./put-together.ts";
import { buildVia, content, results, tools } from "./vendor-forms.ts";

const foreignDetails = [
  {
    type: "reasoning.encrypted" as const,
    format: "google-gemini-v1",
    id: "call_1",
    index: 0,
    data: "CvcBAdHtim9P4Vw",
  },
];
const foreignCall = { id: "call_1", type: "function" as const, function: { name: "f", arguments: "{}" } };

test("Gemini's signatures are returned to Gemini", (t) => {
  const chat = {
    choices: [
      {
        index: 0,
        message: {
          role: "assistant" as const,
          content: null,
          refusal: null,
          reasoning_details: foreignDetails,
          tool_calls: [foreignCall],
        },
        logprobs: null,
        finish_reason: "tool_calls" as const,
      },
    ],
    usage: null,
  };
  const whole = viaJson(messages.formatAnswer(chat, envelope, requestFrom({}))) as { content: object[] };
  const delta = { reasoning_details: foreignDetails, tool_calls: [{ ...foreignCall, index: 0 }] };
  const streamed = putTogether(readEvents(writeStream([says(delta, "tool_calls")], null)));
  for (const choice of [whole.content, streamed.content]) {
    const request = buildVia("gemini", "gemini-3-pro-preview", {
      tools,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: choice },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "1" }] },
      ],
    });
    t.true(JSON.stringify(request["contents"]).includes('"thoughtSignature":"CvcBAdHtim9P4Vw"'));
  }
});

test("thoughts of any format are returned unchanged, in a stream, too", (t) => {
  const format = "bedrock-converse-v1";
  const details = [
    {
      type: "reasoning.text" as const,
      format,
      index: 0,
      text: "One two",
      signature: "abc",
    },
    { type: "reasoning.summary" as const, format: "openai-responses-v1", index: 1, summary: "Three" },
  ];
  const piece = (more: object) =>
    says({ reasoning_details: [{ type: "reasoning.text", format, index: 0, ...more }] });
  const pieces = [
    piece({ text: "One" }),
    piece({ text: " two" }),
    piece({ signature: "abc" }),
    says({ reasoning_details: details.slice(1) }),
    says({ content: "Hi" }, "stop"),
  ];
  const { content: choice } = putTogether(readEvents(writeStream(pieces, null)));
  const [, turn] = toChatMessages(
    { role: "user", content: "Hi" },
    { role: "assistant", content: choice },
  ) as Record<string, unknown>[];
  t.deepEqual(turn, {
    role: "assistant",
    content: "Hi",
    reasoning_content: "One two\n\nThree",
    reasoning_details: details,
  });
});

test("pieces of different thoughts stay apart, even with the same index", (t) => {
  const piece = { type: "reasoning.text" as const, format: "f", index: 0, id: "rs_1", text: "a" };
  for (const difference of [{ id: "rs_2" }, { format: "g" }, { index: 1 }]) {
    const other = { ...piece, ...difference };
    const pieces = [piece, other, other, piece].map((detail) => says({ reasoning_details: [detail] }));
    const events = readEvents(writeStream([...pieces, says({ content: "Hi" }, "stop")], null));
    const [, turn] = toChatMessages(
      { role: "user", content: "Hi" },
      { role: "assistant", content: putTogether(events).content },
    ) as Record<string, unknown>[];
    const expected = [piece, { ...other, text: "aa" }, piece];
    t.deepEqual(turn?.["reasoning_details"], expected, JSON.stringify(difference));
  }
});

test("Anthropic receives only thoughts that it signed", (t) => {
  const sealed = [
    { type: "thinking", thinking: "Mine.", signature: `${sealPrefix}e30` },
    { type: "redacted_thinking", data: `${sealPrefix}e30` },
  ];
  const conversation = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [...sealed, ...content] },
    { role: "user", content: results },
  ];
  const request = requestFrom({
    messages: [...conversation, { role: "assistant", content: sealed }, { role: "user", content: "Hi" }],
  });
  const clean = withoutSealedThoughts(request);
  t.is(clean.modelRange, null);
  t.deepEqual(clean.body["messages"], [
    conversation[0],
    { role: "assistant", content },
    conversation[2],
    { role: "user", content: "Hi" },
  ]);

  const untouched = requestFrom({ messages: conversation.slice(0, 1) });
  t.is(withoutSealedThoughts(untouched), untouched);
  const mentioned = requestFrom({ messages: [{ role: "user", content: `${sealPrefix} is text` }] });
  t.deepEqual(withoutSealedThoughts(mentioned).body, mentioned.body);
});

test("any request is translated or rejected with a reason", (t) => {
  fc.assert(
    fc.property(anyBody, (body) => {
      let request: DialectRequest | null = null;
      try {
        request = requestFrom(body);
        messages.toChatRequest(request);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (error.param === null) throw new Error("It does not say where.", { cause: error });
      }
      if (request === null) return;
      collectCountable(request.body);
      withoutSealedThoughts(request);
      messages.createStreamWriter(envelope, request).finish(null);
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});

test("any response is written or rejected with a reason", (t) => {
  fc.assert(
    fc.property(fc.array(anyPiece, { maxLength: 6 }), anyJson, anyJson, (deltas, finishReason, usage) => {
      const request = requestFrom({});
      for (const delta of deltas) {
        throwsOnlyGatewayErrors(() =>
          messages.formatAnswer(
            {
              choices: [{ index: 0, message: delta, finish_reason: finishReason }],
              usage,
            } as unknown as ChatAnswer,
            envelope,
            request,
          ),
        );
      }
      throwsOnlyGatewayErrors(() => {
        const writer = messages.createStreamWriter(envelope, request);
        for (const delta of deltas) {
          writer.write(
            { index: 0, delta, finish_reason: finishReason } as unknown as ChunkChoice,
            usage as ChatUsage,
          );
        }
        writer.finish(usage as ChatUsage);
      });
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});

test("a response without a choice is rejected", (t) => {
  const request = requestFrom({});
  for (const choices of [[], [null], ["x"]]) {
    const answer = { choices, usage: null } as unknown as ChatAnswer;
    t.throws(() => messages.formatAnswer(answer, envelope, request), { instanceOf: GatewayError });
  }
});

test("a request may have more blocks than a call may have arguments", (t) => {
  const texts = Array.from({ length: 200_000 }, () => ({ type: "text", text: "a" }));
  const request = requestFrom({
    system: texts,
    messages: [
      { role: "system", content: texts },
      { role: "user", content: texts },
      { role: "user", content: texts },
      { role: "assistant", content: texts },
    ],
  });
  t.notThrows(() => messages.toChatRequest(request));
});

function throwsOnlyGatewayErrors(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}
