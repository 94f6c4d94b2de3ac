import test from "ava";
import { seededRandom } from "../helpers/seeded-random.ts";
import { parseExact, parseExactParts } from "../../gateway/wire/exact-numbers.ts";
import { parseAnswer, parseEvent } from "../../gateway/wire/parse-upstream.ts";
import { anthropic } from "../../gateway/providers/anthropic/anthropic.ts";
import { bedrock } from "../../gateway/providers/bedrock/bedrock.ts";
import { gemini } from "../../gateway/providers/gemini/gemini.ts";
import { openAiCompatible } from "../../gateway/providers/openai-compatible/openai-compatible.ts";
import type { ChatRequestBody } from "../../gateway/wire/chat-completion.ts";

const numbers = [
  "2512292042121000001",
  "9007199254740993",
  "-12345678901234567890",
  "1.0",
  "0.10",
  "100.00",
  "1e3",
  "1E-7",
  "-0",
  "0.1000000000000000055",
  "1e999",
];

for (const number of numbers) {
  test(`${number} keeps its text, wherever it stands`, (t) => {
    for (const text of [number, `[${number}]`, `{"a":${number}}`, `{"a":[1,${number},{"b":${number}}]}`]) {
      t.is(JSON.stringify(parseExact(text)), text);
    }
  });

  test(`${number} is a plain number outside the input of a tool call`, (t) => {
    const parsed = parseExactParts(`{"usage":{"n":${number}},"calls":[{"args":{"n":${number}}}]}`);
    const { usage, calls } = parsed as { usage: { n: unknown }; calls: unknown };
    t.is(typeof usage.n, "number");
    t.is(JSON.stringify(calls), `[{"args":{"n":${number}}}]`);
  });
}

test("numbers that JavaScript writes unchanged stay numbers", (t) => {
  t.deepEqual(parseExact('{"a":[1,-2,0.5,1.25,9007199254740991,"1.0",null]}'), {
    a: [1, -2, 0.5, 1.25, 9007199254740991, "1.0", null],
  });
});

const upstreamModel = { name: "model", outputTokensMax: null };
const args = `{"id":2512292042121000001,"price":1.0,"list":[-0,1e3]}`;
const regional = "https://bedrock-runtime.us-east-1.amazonaws.com";
const kinds = [
  { provider: openAiCompatible, baseUrl: "https://upstream.example/v1", inRequest: JSON.stringify(args) },
  { provider: anthropic, baseUrl: "https://upstream.example", inRequest: `"input":${args}` },
  { provider: gemini, baseUrl: "https://upstream.example", inRequest: `"args":${args}` },
  { provider: bedrock, baseUrl: regional, inRequest: `"input":${args}` },
];

for (const { provider, baseUrl, inRequest } of kinds) {
  const settings = { baseUrl, secret: "secret", preset: null };
  const chat = provider.connect(settings).chat(upstreamModel);

  test(`${provider.label}: the numbers in a history's arguments reach the upstream as text`, (t) => {
    const call = { id: "c1", type: "function", function: { name: "f", arguments: args } };
    const body = {
      model: "model",
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: "done" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    };
    const sent = JSON.stringify(chat.buildRequest(body as unknown as ChatRequestBody, upstreamModel));
    t.true(sent.includes(inRequest), sent);
  });
}

const answers = {
  "OpenAI-compatible": `{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${args}}}]}}]}`,
  Anthropic: `{"content":[{"type":"tool_use","id":"c","name":"f","input":${args}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
  "Google Gemini": `{"candidates":[{"index":0,"finishReason":"STOP","content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]}}]}`,
  "Amazon Bedrock": `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"f","input":${args}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1}}`,
};

for (const { provider, baseUrl } of kinds) {
  const settings = { baseUrl, secret: "secret", preset: null };
  const chat = provider.connect(settings).chat(upstreamModel);

  test(`${provider.label}: the numbers in an answer's arguments reach the client as text`, (t) => {
    const answer = answers[provider.label as keyof typeof answers];
    const { choices } = chat.readAnswer(parseExactParts(answer));
    t.is(choices[0]?.message.tool_calls?.[0]?.function.arguments, args);
  });
}

test("each number that JavaScript would change is found", (t) => {
  const { upTo, chance } = seededRandom(47);
  const digits = (count: number) => Array.from({ length: count }, () => upTo(9)).join("");
  for (let round = 0; round < 20_000; round++) {
    const whole = chance(0.3) ? "0" : `${1 + upTo(8)}${digits(upTo(19))}`;
    const fraction = chance(0.3) ? "" : `.${"0".repeat(upTo(7))}${digits(1 + upTo(17))}`;
    const exponent = chance(0.1) ? `e${digits(2)}` : "";
    const number = `${chance(0.5) ? "-" : ""}${whole}${fraction}${exponent}`;
    const text = `{"${number}":[${number}],"a":{"b":"\\"[${number}]"}}`;
    t.is(JSON.stringify(parseExact(text)), text);
  }
});

test("invalid numbers stay invalid", (t) => {
  for (const number of ["1.0.0", "01.0", "1.0e", "1e3e3", "-", "--0", "1.0-0", "00.0"]) {
    t.throws(() => parseExact(`[${number}]`), { instanceOf: SyntaxError }, number);
    t.throws(() => parseExactParts(`{"input":{"a":${number}}}`), { instanceOf: SyntaxError }, number);
  }
});

test("a nesting that cannot be written again is read as before", (t) => {
  const text = `{"input":{"a":${"[".repeat(20_000)}1.0${"]".repeat(20_000)}}}`;
  t.notThrows(() => parseExactParts(text));
});

test("too many numbers to keep are refused, and too many of an upstream are an error", (t) => {
  const many = `{"input":{"a":[${Array(50_001).fill("1.0").join(",")}]}}`;
  t.throws(() => parseExactParts(many), { code: "request_too_large" });
  t.throws(() => parseExact(many), { code: "request_too_large" });
  t.throws(() => parseAnswer(Buffer.from(many)), { code: "upstream_error", message: /too complex/ });
  t.throws(() => parseEvent(many), { code: "upstream_error", message: /too complex/ });
  t.notThrows(() => parseExactParts(many.replace(",1.0", "")));
});
