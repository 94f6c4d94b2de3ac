import test from "ava";
import fc from "fast-check";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { collectCountable } from "../../../gateway/dialects/messages/count-tokens.ts";
import { withoutSealedThoughts } from "../../../gateway/dialects/messages/sealed-detail.ts";
import type { DialectRequest } from "../../../gateway/dialects/dialect.ts";
import type { ChatAnswer } from "../../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import { anyBody, anyJson, anyPiece } from "./any-shape.ts";
import { envelope, requestFrom } from "./messages-dialect.ts";

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
