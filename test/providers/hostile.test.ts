import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import { GatewayError } from "../../gateway/errors.ts";
import { anthropic } from "../../gateway/providers/anthropic/anthropic.ts";
import { bedrock } from "../../gateway/providers/bedrock/bedrock.ts";
import { gemini } from "../../gateway/providers/gemini/gemini.ts";
import type {
  ChatMessage,
  ChatRequestBody,
  EmbeddingsRequestBody,
} from "../../gateway/wire/chat-completion.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { attempt, jsonOf, requestsOf } from "./hostile-json.ts";

const model = { name: "gemini-3.8-flash", outputTokensMax: null };
const api = gemini.connect({ baseUrl: "https://example.com/v1beta", secret: null, preset: null });
const chat = api.apis(model)["chat/completions"];
const embeddings = api.apis(model).embeddings?.translation;
if (chat.quirks !== null || !embeddings) throw new Error("nothing to translate");

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

test("gemini: any JSON in a request is translated or rejected", (t) => {
  fc.assert(
    fc.property(requestsOf(requestWords, parameters), (body) => {
      passesOrRefuses(() => chat.buildRequest(body, model));
    }),
    { numRuns: 3_000 },
  );
  t.pass();
});

test("gemini: any JSON in an embeddings request is translated or rejected", (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (input, dimensions) => {
      const body = { model: "m", input, dimensions } as EmbeddingsRequestBody;
      passesOrRefuses(() => embeddings.buildRequest(body, model));
    }),
  );
  t.pass();
});

test("gemini: deeply nested JSON in results and arguments is harmless", (t) => {
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

test("gemini: a request with very many parts is translated", (t) => {
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

test("gemini: any JSON in a response yields valid choices or an error", (t) => {
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

test("gemini: any JSON in a stream yields valid chunks or an error and ends with a reason", (t) => {
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

test("gemini: any JSON in an embeddings response yields numbers or an error", (t) => {
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

const names = [
  "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  "global.anthropic.claude-opus-4-8",
  "us.amazon.nova-2-lite-v1:0",
  "openai.gpt-oss-120b-1:0",
  "mistral.mistral-large-3",
];
const bedrockHostileApi = bedrock.connect({ baseUrl: "https://example.com", secret: null, preset: null });

function chatOf(name: string) {
  const chat = bedrockHostileApi.apis({ name, outputTokensMax: null })["chat/completions"];
  if (chat.quirks !== null) throw new Error("Bedrock speaks a form of its own");
  return chat;
}

function build(body: ChatRequestBody, name = names[0] ?? ""): Record<string, unknown> {
  return JSON.parse(JSON.stringify(chatOf(name).buildRequest(body, { name, outputTokensMax: null })));
}

const words =
  "text type image_url video_url url input_audio file file_data file_id filename format function name arguments id tool_calls tool_call_id reasoning_details anthropic-claude-v1 bedrock-converse-v1 reasoning.text reasoning.encrypted index signature data content refusal parameters properties description strict json_schema json_object schema auto none required allowed_tools tools mode high cache_control ttl 1h thinking enabled adaptive budget_tokens output message role reasoningContent reasoningText redactedContent toolUse toolUseId input citationsContent stopReason end_turn usage inputTokens outputTokens cacheReadInputTokens start delta contentBlockIndex embedding embeddings float inputTextTokenCount __proto__ constructor toString".split(
    " ",
  );

const json = jsonOf(words);

const bedrockHostileParameters =
  "stop tool_choice parallel_tool_calls response_format reasoning_effort thinking top_k n logprobs top_logprobs logit_bias modalities audio functions function_call web_search_options user metadata".split(
    " ",
  );

const request = requestsOf(words, bedrockHostileParameters);

/** Converting the part's `type` to a string throws an error. */
const part = { type: [{ toString: null }] };
const unprintable = {
  model: "m",
  messages: [{ role: "system", content: [part] }],
} as unknown as ChatRequestBody;

test("bedrock: any input becomes a valid request or a GatewayError that names the member", (t) => {
  let built = 0;
  fc.assert(
    fc.property(request, fc.constantFrom(...names), (body, name) => {
      const before = JSON.stringify(body);
      try {
        t.true(Array.isArray(build(body, name)["messages"]));
        built++;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        t.regex(error.code, /^(unsupported_parameter|invalid_value|invalid_type)$/);
        t.regex(String(error.param), /^[\w.[\]]+$/);
      }
      t.is(JSON.stringify(body), before, "the client's request stays as it was");
    }),
    { numRuns: 3_000, examples: [[unprintable, names[0] ?? ""]] },
  );
  t.true(built > 100, `${built} requests were built`);
});

test("bedrock: any JSON in an embeddings request is translated or rejected", (t) => {
  const forms = ["amazon.titan-embed-text-v1", "cohere.embed-v4:0"].map((name) => {
    const form = bedrockHostileApi.apis({ name, outputTokensMax: null }).embeddings?.translation;
    if (!form) throw new Error("Bedrock has a form of its own for embeddings");
    return { name, ...form };
  });
  fc.assert(
    fc.property(fc.constantFrom(...forms), json, json, (form, input, dimensions) => {
      const body = { model: "m", input, dimensions } as EmbeddingsRequestBody;
      try {
        JSON.stringify(form.buildRequest(body, { name: form.name, outputTokensMax: null }));
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        t.truthy(error.param);
      }
      const { embeddings, inputTokens } = attempt(() => form.readAnswer(input)) ?? {
        embeddings: [],
        inputTokens: null,
      };
      t.true(embeddings.flat().every((number) => typeof number === "number"));
      t.true(inputTokens === null || typeof inputTokens === "number");
    }),
  );
});

test("bedrock: any output becomes a response, or an error without an end", (t) => {
  const { readAnswer, createStreamReader } = chatOf(names[0] ?? "");
  fc.assert(
    fc.property(json, fc.array(json, { maxLength: 4 }), (answer, content) => {
      for (const each of [
        answer,
        { output: { message: { content } }, stopReason: "end_turn", usage: answer },
      ]) {
        for (const { message } of attempt(() => readAnswer(each))?.choices ?? []) {
          t.true(message.content === null || typeof message.content === "string");
        }
      }
    }),
    { numRuns: 1_000 },
  );
  const kinds =
    "messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop metadata validationException other".split(
      " ",
    );
  const event = fc
    .tuple(
      fc.constantFrom(...kinds),
      fc.dictionary(fc.constantFrom("contentBlockIndex", "start", "delta", "stopReason", "usage"), json),
    )
    .map(([name, fields]) => ({ name, data: JSON.stringify(fields) }));
  const garbage = fc.record({ name: fc.constantFrom(...kinds), data: fc.string() });
  fc.assert(
    fc.property(fc.array(fc.oneof(event, garbage), { maxLength: 8 }), (events) => {
      const reader = createStreamReader();
      let finished = false;
      for (const each of events) {
        const choices = attempt(() => reader.read(each)) ?? [];
        finished ||= choices.some((choice) => choice.finish_reason !== null);
        t.is(reader.state !== "unfinished", finished);
        JSON.stringify([choices, reader.usage]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("bedrock: deeply nested arguments go as text", (t) => {
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const call = { id: "a", type: "function", function: { name: "f", arguments: deep } };
  const request = build({ model: "m", messages: [{ role: "assistant", tool_calls: [call] }] });
  t.true(JSON.stringify(request).includes('"INVALID_JSON"'));
});

test("bedrock: many parts take linear time", (t) => {
  const text = { type: "text", text: "a" };
  const file = { type: "file", file: { filename: "a.pdf", file_data: "JVBERi0xLjQK" } };
  const content = Array.from({ length: 200_000 }, () => text);
  const files = Array.from({ length: 50_000 }, () => file);
  const before = process.cpuUsage();
  const request = build({
    model: "m",
    messages: [
      { role: "system", content },
      { role: "user", content },
      { role: "user", content: files },
    ],
  });
  const [turn] = request["messages"] as { content: unknown[] }[];
  t.is(turn?.content.length, 250_000);
  t.true(cpuMsSince(before) < 5_000);
});

const models = ["claude-haiku-4-5", "claude-opus-4-8", "claude-sonnet-5-5", "some-model"];

function anthropicHostileChatOf(name: string) {
  const api = anthropic.connect({ baseUrl: "https://example.com/v1", secret: null, preset: null });
  const chat = api.apis({ name, outputTokensMax: null })["chat/completions"];
  if (chat.quirks !== null) throw new Error("Anthropic speaks a form of its own");
  return chat;
}

const anthropicHostileWords =
  "text type image_url url input_audio file file_data file_id filename function name arguments id tool_calls tool_call_id reasoning_details anthropic-claude-v1 format index signature data content refusal audio parameters properties items anyOf minimum description strict json_schema json_object schema auto none required high cache_control thinking enabled adaptive budget_tokens tool_use tool_use_id input text_delta thinking_delta signature_delta input_json_delta partial_json stop_reason end_turn usage input_tokens __proto__ constructor".split(
    " ",
  );

const anthropicHostileJson = jsonOf(anthropicHostileWords);

const anthropicHostileParameters =
  "stop tool_choice parallel_tool_calls response_format reasoning_effort thinking top_k cache_control n logprobs top_logprobs logit_bias modalities audio functions function_call user metadata".split(
    " ",
  );

const anthropicHostileRequest = requestsOf(anthropicHostileWords, anthropicHostileParameters);

const wellFormed = /^[\w.[\]]+$/;

test("anthropic: any input becomes a valid request or a GatewayError that names the member", (t) => {
  let built = 0;
  fc.assert(
    fc.property(anthropicHostileRequest, fc.constantFrom(...models), (body, name) => {
      const before = JSON.stringify(body);
      try {
        const sent = JSON.parse(
          JSON.stringify(anthropicHostileChatOf(name).buildRequest(body, { name, outputTokensMax: null })),
        );
        t.is(typeof sent.max_tokens, "number");
        built++;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        t.regex(error.code, /^(unsupported_parameter|invalid_value|invalid_type)$/);
        t.regex(String(error.param), wellFormed);
      }
      t.is(JSON.stringify(body), before, "the client's request stays as it was");
    }),
    { numRuns: 3_000 },
  );
  t.true(built > 100, `${built} requests were built`);
});

test("anthropic: any output becomes a response, or an error without an end", (t) => {
  const { readAnswer, createStreamReader } = anthropicHostileChatOf("claude-opus-4-8");
  const types =
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop error other".split(
      " ",
    );
  const event = fc
    .tuple(
      fc.constantFrom(...types),
      fc.dictionary(
        fc.constantFrom("index", "delta", "content_block", "message", "usage", "error"),
        anthropicHostileJson,
      ),
    )
    .map(([type, fields]) => JSON.stringify({ ...fields, type }));
  fc.assert(
    fc.property(anthropicHostileJson, fc.array(anthropicHostileJson, { maxLength: 4 }), (answer, content) => {
      for (const each of [answer, { content, stop_reason: "end_turn", usage: answer }]) {
        attempt(() => readAnswer(each));
      }
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(event, fc.string()), { maxLength: 8 }), (events) => {
      const reader = createStreamReader();
      let finished = false;
      for (const data of events) {
        const choices = attempt(() => reader.read({ name: "", data })) ?? [];
        finished ||= choices.some((choice) => choice.finish_reason !== null);
        t.is(reader.state !== "unfinished", finished);
        JSON.stringify([choices, reader.usage]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("anthropic: many parts take linear time", (t) => {
  const text = { type: "text", text: "a" };
  const details = Array.from({ length: 20_000 }, (_, index) => ({
    type: "reasoning.text",
    format: "anthropic-claude-v1",
    index: index % 2 === 0 ? index : -index,
    signature: "s",
  }));
  const body = {
    model: "m",
    messages: [
      { role: "user" as const, content: Array(200_000).fill(text) },
      { role: "user" as const, content: Array(200_000).fill(text) },
      { role: "assistant" as const, content: "Hi", reasoning_details: details },
    ],
  };
  const before = process.cpuUsage();
  anthropicHostileChatOf("claude-opus-5-5").buildRequest(body, {
    name: "claude-opus-5-5",
    outputTokensMax: null,
  });
  t.true(cpuMsSince(before) < 5_000);
});

test("anthropic: deeply nested and invalid arguments of a call are wrapped", (t) => {
  const call = (args: string) => {
    const calls = [{ id: "c1", type: "function", function: { name: "f", arguments: args } }];
    const messages = [
      { role: "user" as const, content: "x" },
      { role: "assistant" as const, content: null, tool_calls: calls },
      { role: "tool" as const, tool_call_id: "c1", content: "y" },
    ];
    const model = { name: "claude-haiku-4-5", outputTokensMax: null };
    return JSON.stringify(anthropicHostileChatOf(model.name).buildRequest({ model: "a/b", messages }, model));
  };
  const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  t.true(call(deep).includes(`"input":{"INVALID_JSON":${JSON.stringify(deep)}}`));
  t.true(call('{"a":[[1]]}').includes('"input":{"a":[[1]]}'));
});
