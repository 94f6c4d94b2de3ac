import test from "ava";
import { askHistory } from "../helpers/ask-history.ts";
import { postTo } from "../helpers/post-chat.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const gateway = shareGateway();

const refusedFor: [reason: string, path: string, more: object][] = [
  ["invalid messages", "/v1/chat/completions", { messages: "hi" }],
  ["no messages", "/v1/chat/completions", {}],
  ["a temperature beyond its range", "/v1/chat/completions", { messages: [hello()], temperature: 3 }],
  ["no max_tokens", "/v1/messages", { messages: [hello()] }],
  ["invalid messages", "/v1/messages", { messages: 5, max_tokens: 5 }],
  ["no input", "/v1/responses", {}],
  ["a stream that is neither true nor false", "/v1/responses", { input: "hi", stream: "yes" }],
  ["no input", "/v1/embeddings", {}],
];
for (const [reason, path, more] of refusedFor) {
  test(`${path}, refused for ${reason}: the record contains the requested model`, async (t) => {
    for (const model of ["demo/echo", "demo/none", "echo"]) {
      const { id, value } = await createKey(gateway());
      const answer = await postTo(gateway(), path, { authorization: `Bearer ${value}` }, { model, ...more });
      t.is(answer.status, 400, answer.text);
      const [record] = await usageOf(gateway(), id);
      t.like(record, { model, status: "FAILED", httpStatus: 400, provider: "" });
    }
  });
}

const bareNames = [
  "acme-large",
  "gpt-4o-mini-2024-07-18",
  "claude-3-5-sonnet-20241022",
  "anthropic.claude-3-5-sonnet-20241022-v2:0",
  "Llama-3.3-70B-Instruct",
  "llama3.1:70b-instruct-q4_K_M",
  "Mixtral-8x7B-Instruct-v0.1",
  "text-embedding-3-small",
  "claude-3-5-sonnet@20240620",
  "o3",
];
test("a model without its provider is recorded by name and can be filtered for", async (t) => {
  const { id, value } = await createKey(gateway());
  for (const model of bareNames) {
    const answer = await chat(value, { model, messages: [hello()] });
    t.is(answer.status, 404);
  }
  const names = (await usageOf(gateway(), id)).map(({ model }) => model);
  t.deepEqual(names.toSorted(), bareNames.toSorted());

  const { data } = await askHistory(
    gateway(),
    gateway().accessToken,
    `query ($key: ID!) { usageSummary(filter: { apiKeyId: $key, model: "acme-large" }, groupBy: [MODEL]) { model requests } }`,
    { variables: { key: id } },
  );
  t.deepEqual(data, { usageSummary: [{ model: "acme-large", requests: 1 }] });
});

const noNames: [what: string, model: unknown][] = [
  ["a text", "my secret plans"],
  ["a text of one word that is long", "antidisestablishmentarianism"],
  ["no text", 5],
  ["nothing", undefined],
  ["a key of OpenAI's", "sk-proj-abc"],
  ["a key of the gateway's behind a provider", `openai/sk-gateway-${"a1".repeat(20)}`],
  ["a key of Groq's", "gsk_f3Kd92mLqP7xR5tVbN8wYzA1cE4gHjKs"],
  ["a key of Google's", "AIzaSyD3kF9-mQ2xV7bN1cE4gH8jLpR5tWyZ0aU"],
  ["a key of AWS's", "AKIAIOSFODNN7EXAMPLE"],
  ["a token of Hugging Face's", "hf_QkzWvXbNcMaLsKdJfHgPqOwIeUrYt"],
  ["random letters and digits", "8f3Kq0Zx2mB7"],
  ["a UUID", "7b1c2f4e-9a3d-4c8b-a1f6-2e5d7c9b0a41"],
  ["a token of three parts", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SflKxwRJSMeKKF2QT4fwp"],
  ["an e-mail address", "ada@example.com"],
  ["a telephone number", "020-7946-0958"],
];
test("a possible text or secret is not recorded, and such requests are grouped", async (t) => {
  const { id, value } = await createKey(gateway());
  for (const [, model] of noNames) await chat(value, { model, messages: [hello()] });
  const records = await usageOf(gateway(), id);
  t.is(records.length, noNames.length);
  t.deepEqual([...new Set(records.map(({ model }) => model))], [""]);

  const { data } = await askHistory<{ usageRecords: { edges: unknown[] } }>(
    gateway(),
    gateway().accessToken,
    `query ($key: ID!) { usageRecords(filter: { apiKeyId: $key, model: "" }) { edges { node { id } } } }`,
    { variables: { key: id } },
  );
  t.is(data?.usageRecords.edges.length, noNames.length);
});

test("names of missing models are limited per hour", async (t) => {
  let now = Date.parse("2026-11-22T10:10:00Z");
  const limited = await startTestGateway(t, {
    environment: { USAGE_UNKNOWN_MODELS_PER_HOUR_MAX: "2" },
    // Records are listed by time, so each record needs a different time.
    runtime: { now: () => now++ },
  });
  const { id, value } = await createKey(limited);
  const namesAfter = async (...models: string[]) => {
    for (const model of models) {
      const headers = { authorization: `Bearer ${value}` };
      await postTo(limited, "/v1/chat/completions", headers, { model, messages: [hello()] });
    }
    return (await usageOf(limited, id)).slice(0, models.length).map((record) => record.model);
  };
  t.deepEqual(await namesAfter("a/one", "a/two", "a/three", "a/one", "demo/echo"), [
    "demo/echo",
    "a/one",
    "",
    "a/two",
    "a/one",
  ]);
  now += 3_600_000;
  t.deepEqual(await namesAfter("a/three"), ["a/three"]);
});

function hello(): object {
  return { role: "user", content: "Hello" };
}

function chat(value: string, body: object) {
  return postTo(gateway(), "/v1/chat/completions", { authorization: `Bearer ${value}` }, body);
}
