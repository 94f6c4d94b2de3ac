import test from "ava";
import fc from "fast-check";
import { GatewayError } from "../../../gateway/errors.ts";
import { bedrock } from "../../../gateway/providers/bedrock/bedrock.ts";
import type { ChatRequestBody, EmbeddingsRequestBody } from "../../../gateway/wire/chat-completion.ts";
import { attempt, jsonOf, requestsOf } from "../hostile-json.ts";
import { cpuMsSince } from "../../helpers/cpu-ms-since.ts";

const names = [
  "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  "global.anthropic.claude-opus-4-8",
  "us.amazon.nova-2-lite-v1:0",
  "openai.gpt-oss-120b-1:0",
  "mistral.mistral-large-3",
];
const api = bedrock.connect({ baseUrl: "https://example.com", secret: null, preset: null });

function chatOf(name: string) {
  const chat = api.chat({ name, outputTokensMax: null });
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

const parameters =
  "stop tool_choice parallel_tool_calls response_format reasoning_effort thinking top_k n logprobs top_logprobs logit_bias modalities audio functions function_call web_search_options user metadata".split(
    " ",
  );

const request = requestsOf(words, parameters);

/** Converting the part's `type` to a string throws an error. */
const part = { type: [{ toString: null }] };
const unprintable = {
  model: "m",
  messages: [{ role: "system", content: [part] }],
} as unknown as ChatRequestBody;

test("any input becomes a valid request or a GatewayError that names the member", (t) => {
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

test("any JSON in an embeddings request is translated or rejected", (t) => {
  const forms = ["amazon.titan-embed-text-v1", "cohere.embed-v4:0"].map((name) => {
    const form = api.embeddings({ name, outputTokensMax: null });
    if (form?.form !== "translated") throw new Error("Bedrock has a form of its own for embeddings");
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

test("any output becomes a response, or an error without an end", (t) => {
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

test("deeply nested arguments go as text", (t) => {
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const call = { id: "a", type: "function", function: { name: "f", arguments: deep } };
  const request = build({ model: "m", messages: [{ role: "assistant", tool_calls: [call] }] });
  t.true(JSON.stringify(request).includes('"INVALID_JSON"'));
});

test("many parts take linear time", (t) => {
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
