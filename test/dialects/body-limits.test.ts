import test from "ava";
import { parseBody } from "../../gateway/dialects/parse-body.ts";
import { providerKinds } from "../../gateway/providers/registry.ts";
import type { ChatRequestBody } from "../../gateway/wire/chat-completion.ts";
import { bodyLimits } from "../helpers/body-limits.ts";

const { requestJsonValuesMax: valuesMax, requestTextBytesMax: textBytesMax } = bodyLimits;

function parse(body: object): unknown {
  return parseBody(Buffer.from(JSON.stringify(body)), bodyLimits, () => {});
}

test("a body with too many values is rejected with the variable's name", (t) => {
  t.notThrows(() => parse({ a: Array.from({ length: valuesMax / 2 }, () => ({})) }));
  t.throws(() => parse({ a: Array.from({ length: valuesMax }, () => ({})) }), {
    code: "request_too_large",
    message: /more than 60000 JSON values\..*REQUEST_JSON_VALUES_MAX/,
  });
});

test("a number counts as a tenth of another value", (t) => {
  t.notThrows(() => parse({ a: Array.from({ length: 9 * valuesMax }, () => 1) }));
  t.throws(() => parse({ a: Array.from({ length: 11 * valuesMax }, () => 1) }), {
    code: "request_too_large",
  });
});

test("the default limits accept 8 MB of code and reject a longer text", (t) => {
  const line = '  const value = await readValue(name, "text");\n';
  const code = line.repeat(8_000_000 / line.length);
  t.notThrows(() => parse({ a: code }));
  t.throws(() => parse({ a: code.repeat(2) }), {
    code: "request_too_large",
    message: /REQUEST_TEXT_BYTES_MAX/,
  });
});

test("media do not count as text, and escapes count four times", (t) => {
  const base64 = "iVBORw0K".repeat(4_000_000);
  t.notThrows(() => parse({ a: `data:image/png;base64,${base64}`, b: base64 }));
  t.throws(() => parse({ a: base64.replaceAll("K", " ") }), { code: "request_too_large" });
  t.throws(() => parse({ a: "\n".repeat(textBytesMax / 4) }), { code: "request_too_large" });
});

for (const kind of ["anthropic", "gemini", "bedrock"] as const) {
  test(`${kind}: the arguments of all calls together are limited`, (t) => {
    const provider = providerKinds[kind];
    const baseUrl = "https://upstream.example?region=us-east-1";
    const model = { name: "model", outputTokensMax: null };
    const chat = provider.connect({ baseUrl, secret: null, preset: null }).chat(model);
    t.is(chat.quirks, null);
    const args = JSON.stringify(Array.from({ length: 100 }, (_, index) => `text ${index}`));
    const request = (count: number) => ({
      model: "model",
      messages: [
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          tool_calls: Array.from({ length: count }, (_, index) => ({
            id: `call_${index}`,
            type: "function",
            function: { name: "a", arguments: `{"a":${args}}` },
          })),
        },
      ],
    });
    t.notThrows(() => chat.buildRequest(request(300) as ChatRequestBody, model));
    t.throws(() => chat.buildRequest(request(500) as ChatRequestBody, model), { code: "request_too_large" });
  });
}
