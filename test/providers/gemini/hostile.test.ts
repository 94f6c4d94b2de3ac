import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { GatewayError } from "../../../gateway/errors.ts";
import { gemini } from "../../../gateway/providers/gemini/gemini.ts";
import type { ChatMessage, EmbeddingsRequestBody } from "../../../gateway/wire/chat-completion.ts";
import { jsonOf, requestsOf } from "../hostile-json.ts";

const model = { name: "gemini-3.8-flash", outputTokensMax: null };
const api = gemini.connect({ baseUrl: "https://example.com/v1beta", secret: null, preset: null });
const chat = api.chat(model);
const embeddings = api.embeddings(model);
if (chat.quirks !== null || embeddings?.form !== "translated") throw new Error("nothing to translate");

const requestWords =
  "text type image_url url input_audio data format wav file file_data file_id function name arguments id tool_calls tool_call_id reasoning_details google-gemini-v1 extra_content google thought_signature content refusal audio function_call parameters properties json_schema schema allowed_tools tools mode thinking_config cached_content strict auto none required".split(
    " ",
  );

const parameters =
  "temperature top_p top_k n stop seed max_tokens max_completion_tokens logprobs top_logprobs presence_penalty frequency_penalty response_format reasoning_effort tools tool_choice parallel_tool_calls modalities logit_bias functions web_search_options extra_body thinking_config".split(
    " ",
  );

function passesOrRefuses(action: () => unknown): void {
  try {
    JSON.stringify(action());
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    assert.ok(["invalid_type", "invalid_value", "unsupported_parameter"].includes(error.code), error.code);
    assert.ok(error.param);
  }
}

test("any JSON in a request is translated or rejected", (t) => {
  fc.assert(
    fc.property(requestsOf(requestWords, parameters), (body) => {
      passesOrRefuses(() => chat.buildRequest(body, model));
    }),
    { numRuns: 3_000 },
  );
  t.pass();
});

test("any JSON in an embeddings request is translated or rejected", (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (input, dimensions) => {
      const body = { model: "m", input, dimensions } as EmbeddingsRequestBody;
      passesOrRefuses(() => embeddings.buildRequest(body, model));
    }),
  );
  t.pass();
});

test("deeply nested JSON in results and arguments is harmless", (t) => {
  const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  const ask = (args: string, result: string) => () =>
    chat.buildRequest(
      {
        model: "m",
        messages: [
          { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: args } }] },
          { role: "tool", tool_call_id: "a", content: result },
        ],
      },
      model,
    );
  t.true(JSON.stringify(ask("{}", deep)()).length > 400_000, "the result goes as text");
  t.true(JSON.stringify(ask(deep, "{}")()).includes('"INVALID_JSON"'), "the arguments go as text");
});

test("a request with very many parts is translated", (t) => {
  const content = Array.from({ length: 200_000 }, () => ({ type: "text", text: "a" }));
  const messages: ChatMessage[] = [
    { role: "system", content },
    { role: "user", content },
    { role: "user", content },
  ];
  t.notThrows(() => chat.buildRequest({ model: "m", messages }, model));
});

const answerWords =
  "candidates content parts text thought thoughtSignature functionCall name args id index finishReason STOP MAX_TOKENS SAFETY finishMessage logprobsResult chosenCandidates topCandidates token logProbability usageMetadata promptTokenCount candidatesTokenCount thoughtsTokenCount responseId promptFeedback blockReason error message embeddings values".split(
    " ",
  );

test("any JSON in a response yields valid choices or an error", (t) => {
  fc.assert(
    fc.property(jsonOf(answerWords), (answer) => {
      try {
        for (const { message, finish_reason } of chat.readAnswer(answer).choices) {
          assert.ok(message.content === null || typeof message.content === "string");
          assert.ok(["stop", "length", "tool_calls", "content_filter"].includes(finish_reason));
        }
      } catch (error) {
        assert.ok(!(error instanceof TypeError) && !(error instanceof RangeError), String(error));
      }
    }),
    { numRuns: 3_000 },
  );
  t.pass();
});

test("any JSON in a stream yields valid chunks or an error and ends with a reason", (t) => {
  fc.assert(
    fc.property(fc.array(jsonOf(answerWords), { maxLength: 5 }), (events) => {
      const reader = chat.createStreamReader();
      const finished = new Set<number>();
      const begun = new Set<number>();
      try {
        for (const event of events) {
          for (const { index, finish_reason } of reader.read({ name: "", data: JSON.stringify(event) })) {
            begun.add(index);
            if (finish_reason !== null) finished.add(index);
          }
          if (reader.state !== "unfinished") assert.deepEqual(begun, finished);
        }
      } catch (error) {
        assert.ok(!(error instanceof TypeError) && !(error instanceof RangeError), String(error));
      }
    }),
    { numRuns: 3_000 },
  );
  t.pass();
});

test("any JSON in an embeddings response yields numbers or an error", (t) => {
  fc.assert(
    fc.property(jsonOf(answerWords), (answer) => {
      try {
        const { embeddings: vectors, inputTokens } = embeddings.readAnswer(answer);
        for (const vector of vectors) assert.ok(vector.every((value) => typeof value === "number"));
        assert.ok(inputTokens === null || inputTokens >= 0);
      } catch (error) {
        assert.ok(!(error instanceof TypeError), String(error));
      }
    }),
  );
  t.pass();
});
