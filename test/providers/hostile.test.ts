import assert from "node:assert/strict";
import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { GatewayError } from "../../gateway/errors.ts";
import { anthropic } from "../../gateway/providers/anthropic/anthropic.ts";
import { bedrock } from "../../gateway/providers/bedrock/bedrock.ts";
import { gemini } from "../../gateway/providers/gemini/gemini.ts";
import type {
  ChatApi,
  EmbeddingsAnswer,
  EmbeddingsTranslation,
  ModelApis,
  Provider,
} from "../../gateway/providers/provider.ts";
import type {
  ChatMessage,
  ChatRequestBody,
  EmbeddingsRequestBody,
} from "../../gateway/wire/chat-completion.ts";
import type { UpstreamEvent } from "../../gateway/wire/server-sent-events.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { anyOf, attempt, jsonOf, requestsOf } from "./hostile-json.ts";

const modelOf = (name: string) => ({ name, outputTokensMax: null });

function apisOf(provider: Provider, name: string): ModelApis {
  const api = provider.connect({ baseUrl: "https://example.com/v1", secret: null, preset: null });
  return api.apis(modelOf(name));
}

function embeddingsOf(provider: Provider, name: string): EmbeddingsTranslation {
  const translation = apisOf(provider, name).embeddings?.translation;
  if (!translation) throw new Error("There is nothing to translate.");
  return translation;
}

function build(provider: Provider, name: string, body: ChatRequestBody): Record<string, unknown> {
  const request = apisOf(provider, name)["chat/completions"].buildRequest(body, modelOf(name));
  return JSON.parse(JSON.stringify(request));
}

/** Any request becomes one that `isValid` accepts, or an error that names the member. */
function checkRequests(
  t: ExecutionContext,
  provider: Provider,
  names: string[],
  requests: fc.Arbitrary<ChatRequestBody>,
  isValid: (sent: Record<string, unknown>) => boolean,
  examples: [ChatRequestBody, string][] = [],
): void {
  let built = 0;
  fc.assert(
    fc.property(requests, fc.constantFrom(...names), (body, name) => {
      const before = JSON.stringify(body);
      try {
        t.true(isValid(build(provider, name, body)));
        built++;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        t.regex(error.code, /^(unsupported_parameter|invalid_value|invalid_type)$/);
        t.regex(String(error.param), /^[\w.[\]]+$/);
      }
      t.is(JSON.stringify(body), before, "the client's request stays as it was");
    }),
    { numRuns: 3_000, examples },
  );
  t.true(built > 100, `${built} requests were built`);
}

/** A stream of any events is unfinished until a finish reason. */
function checkStreams(
  t: ExecutionContext,
  { createStreamReader }: ChatApi,
  event: fc.Arbitrary<UpstreamEvent>,
): void {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), (events) => {
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
}

const nothing: EmbeddingsAnswer = { embeddings: [], inputTokens: null };

const model = modelOf("gemini-3.8-flash");
const chat = apisOf(gemini, model.name)["chat/completions"];
const embeddings = embeddingsOf(gemini, model.name);

const requestWords =
  "text type image_url url input_audio data format wav file file_data file_id function name arguments id tool_calls tool_call_id reasoning_details google-gemini-v1 extra_content google thought_signature content refusal audio function_call parameters properties json_schema schema allowed_tools tools mode thinking_config cached_content strict auto none required";

const parameters =
  "temperature top_p top_k n stop seed max_tokens max_completion_tokens logprobs top_logprobs presence_penalty frequency_penalty response_format reasoning_effort tools tool_choice parallel_tool_calls modalities logit_bias functions web_search_options extra_body thinking_config";

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
  "candidates content parts text thought thoughtSignature functionCall name args id index finishReason STOP MAX_TOKENS SAFETY finishMessage logprobsResult chosenCandidates topCandidates token logProbability usageMetadata promptTokenCount candidatesTokenCount thoughtsTokenCount responseId promptFeedback blockReason error message embeddings values";

test("gemini: any JSON in a response yields valid choices or an error", (t) => {
  fc.assert(
    fc.property(jsonOf(answerWords), (answer) => {
      for (const { message, finish_reason } of attempt(() => chat.readAnswer(answer))?.choices ?? []) {
        assert.ok(message.content === null || typeof message.content === "string");
        assert.ok(["stop", "length", "tool_calls", "content_filter"].includes(finish_reason));
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
      let isRefused = false;
      for (const event of events) {
        const choices = attempt(() => reader.read({ name: "", data: JSON.stringify(event) }));
        if (choices === null) return;
        for (const { index, delta, finish_reason } of choices) {
          begun.add(index);
          if (finish_reason !== null) finished.add(index);
          isRefused ||= typeof delta.refusal === "string";
        }
        if (reader.state !== "unfinished" && !isRefused) assert.deepEqual(begun, finished);
      }
    }),
    { numRuns: 3_000 },
  );
  t.pass();
});

test("gemini: any JSON in an embeddings response yields numbers or an error", (t) => {
  fc.assert(
    fc.property(jsonOf(answerWords), (answer) => {
      const { embeddings: vectors, inputTokens } = attempt(() => embeddings.readAnswer(answer)) ?? nothing;
      for (const vector of vectors) assert.ok(vector.every((value) => typeof value === "number"));
      assert.ok(inputTokens === null || inputTokens >= 0);
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
const words =
  "text type image_url video_url url input_audio file file_data file_id filename format function name arguments id tool_calls tool_call_id reasoning_details anthropic-claude-v1 bedrock-converse-v1 reasoning.text reasoning.encrypted index signature data content refusal parameters properties description strict json_schema json_object schema auto none required allowed_tools tools mode high cache_control ttl 1h thinking enabled adaptive budget_tokens output message role reasoningContent reasoningText redactedContent toolUse toolUseId input citationsContent stopReason end_turn usage inputTokens outputTokens cacheReadInputTokens start delta contentBlockIndex embedding embeddings float inputTextTokenCount __proto__ constructor toString";

const json = jsonOf(words);

const converseParameters =
  "stop tool_choice parallel_tool_calls response_format reasoning_effort thinking top_k n logprobs top_logprobs logit_bias modalities audio functions function_call web_search_options user metadata";

const request = requestsOf(words, converseParameters);

/** Converting the part's `type` to a string throws an error. */
const part = { type: [{ toString: null }] };
const unprintable = {
  model: "m",
  messages: [{ role: "system", content: [part] }],
} as unknown as ChatRequestBody;

test("bedrock: any input becomes a valid request or a GatewayError that names the member", (t) => {
  const examples: [ChatRequestBody, string][] = [[unprintable, names[0] ?? ""]];
  checkRequests(t, bedrock, names, request, ({ messages }) => Array.isArray(messages), examples);
});

test("bedrock: any JSON in an embeddings request is translated or rejected", (t) => {
  const forms = ["amazon.titan-embed-text-v1", "cohere.embed-v4:0"].map((name) => ({
    name,
    ...embeddingsOf(bedrock, name),
  }));
  fc.assert(
    fc.property(fc.constantFrom(...forms), json, json, (form, input, dimensions) => {
      const body = { model: "m", input, dimensions } as EmbeddingsRequestBody;
      try {
        JSON.stringify(form.buildRequest(body, modelOf(form.name)));
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        t.truthy(error.param);
      }
      const { embeddings: vectors, inputTokens } = attempt(() => form.readAnswer(input)) ?? nothing;
      t.true(vectors.flat().every((number) => typeof number === "number"));
      t.true(inputTokens === null || typeof inputTokens === "number");
    }),
  );
});

test("bedrock: any output becomes a response, or an error without an end", (t) => {
  const api = apisOf(bedrock, names[0] ?? "")["chat/completions"];
  fc.assert(
    fc.property(json, fc.array(json, { maxLength: 4 }), (answer, content) => {
      for (const each of [
        answer,
        { output: { message: { content } }, stopReason: "end_turn", usage: answer },
      ]) {
        for (const { message } of attempt(() => api.readAnswer(each))?.choices ?? []) {
          t.true(message.content === null || typeof message.content === "string");
        }
      }
    }),
    { numRuns: 1_000 },
  );
  const kind = anyOf(
    "messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop metadata validationException other",
  );
  const event = fc
    .tuple(kind, fc.dictionary(anyOf("contentBlockIndex start delta stopReason usage"), json))
    .map(([name, fields]) => ({ name, data: JSON.stringify(fields) }));
  const garbage = fc.record({ name: kind, data: fc.string() });
  checkStreams(t, api, fc.oneof(event, garbage));
});

test("bedrock: deeply nested arguments go as text", (t) => {
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const call = { id: "a", type: "function", function: { name: "f", arguments: deep } };
  const messages: ChatMessage[] = [{ role: "assistant", tool_calls: [call] }];
  const request = build(bedrock, names[0] ?? "", { model: "m", messages });
  t.true(JSON.stringify(request).includes('"INVALID_JSON"'));
});

test("bedrock: many parts take linear time", (t) => {
  const text = { type: "text", text: "a" };
  const file = { type: "file", file: { filename: "a.pdf", file_data: "JVBERi0xLjQK" } };
  const content = Array.from({ length: 200_000 }, () => text);
  const files = Array.from({ length: 50_000 }, () => file);
  const before = process.cpuUsage();
  const request = build(bedrock, names[0] ?? "", {
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

const claudeWords =
  "text type image_url url input_audio file file_data file_id filename function name arguments id tool_calls tool_call_id reasoning_details anthropic-claude-v1 format index signature data content refusal audio parameters properties items anyOf minimum description strict json_schema json_object schema auto none required high cache_control thinking enabled adaptive budget_tokens tool_use tool_use_id input text_delta thinking_delta signature_delta input_json_delta partial_json stop_reason end_turn usage input_tokens __proto__ constructor";

const claudeJson = jsonOf(claudeWords);

const claudeParameters =
  "stop tool_choice parallel_tool_calls response_format reasoning_effort thinking top_k cache_control n logprobs top_logprobs logit_bias modalities audio functions function_call user metadata";

const claudeRequest = requestsOf(claudeWords, claudeParameters);

test("anthropic: any input becomes a valid request or a GatewayError that names the member", (t) => {
  checkRequests(t, anthropic, models, claudeRequest, (sent) => typeof sent["max_tokens"] === "number");
});

test("anthropic: any output becomes a response, or an error without an end", (t) => {
  const api = apisOf(anthropic, "claude-opus-4-8")["chat/completions"];
  const type = anyOf(
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop error other",
  );
  const event = fc
    .tuple(type, fc.dictionary(anyOf("index delta content_block message usage error"), claudeJson))
    .map(([name, fields]) => JSON.stringify({ ...fields, type: name }));
  const anyEvent = fc.oneof(event, fc.string()).map((data) => ({ name: "", data }));
  fc.assert(
    fc.property(claudeJson, fc.array(claudeJson, { maxLength: 4 }), (answer, content) => {
      for (const each of [answer, { content, stop_reason: "end_turn", usage: answer }]) {
        attempt(() => api.readAnswer(each));
      }
    }),
  );
  checkStreams(t, api, anyEvent);
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
  apisOf(anthropic, "claude-opus-5-5")["chat/completions"].buildRequest(body, modelOf("claude-opus-5-5"));
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
    return JSON.stringify(build(anthropic, "claude-haiku-4-5", { model: "a/b", messages }));
  };
  const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  t.true(call(deep).includes(`"input":{"INVALID_JSON":${JSON.stringify(deep)}}`));
  t.true(call('{"a":[[1]]}').includes('"input":{"a":[[1]]}'));
});
