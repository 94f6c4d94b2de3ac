import test from "ava";
import { azureOpenAi } from "../../../gateway/providers/azure-openai/azure-openai.ts";

const secret = "0123456789abcdef0123456789abcdef";
const connect = (baseUrl: string, key: string | null = secret) =>
  azureOpenAi.connect({ baseUrl, secret: key, preset: null });

const deployment = { name: "our gpt/5", outputTokensMax: null };
const addressOf = ({ origin, path }: { origin: string; path: string }) => `${origin}${path}`;

function addresses(baseUrl: string): { chat: string; embeddings: string; models: string } {
  const { chat, embeddings, modelsEndpoint } = connect(baseUrl);
  const embeddingsEndpoint = embeddings(deployment)?.endpoint ?? { origin: "", path: "" };
  return {
    chat: addressOf(chat(deployment).endpoint),
    embeddings: addressOf(embeddingsEndpoint),
    models: addressOf(modelsEndpoint),
  };
}

for (const host of [
  "https://res.openai.azure.com",
  "https://res.services.ai.azure.com",
  "https://res.cognitiveservices.azure.com",
  "https://res.services.ai.azure.com/api/projects/ours",
  "https://proxy.example:8443/azure/eu",
]) {
  for (const path of ["", "/", "/openai", "/openai/", "/openai/v1", "/openai/v1/"]) {
    test(`${host}${path} uses the v1 form`, (t) => {
      const expected = {
        chat: `${host}/openai/v1/chat/completions`,
        embeddings: `${host}/openai/v1/embeddings`,
        models: `${host}/openai/v1/models`,
      };
      t.deepEqual(addresses(`${host}${path}`), expected);
    });
  }

  for (const path of ["", "/openai/", "/openai/v1", "/openai/deployments/gpt-4o/chat/completions"]) {
    test(`${host}${path} with a dated version uses deployments`, (t) => {
      for (const version of ["2024-10-21", "2025-01-01-preview"]) {
        const expected = {
          chat: `${host}/openai/deployments/our%20gpt%2F5/chat/completions?api-version=${version}`,
          embeddings: `${host}/openai/deployments/our%20gpt%2F5/embeddings?api-version=${version}`,
          models: `${host}/openai/models?api-version=${version}`,
        };
        t.deepEqual(addresses(`${host}${path}?api-version=${version}`), expected);
      }
    });
  }
}

test("a version without a date belongs to the v1 form", (t) => {
  for (const version of ["preview", "latest", "v1"]) {
    const { chat } = addresses(`https://res.openai.azure.com/openai/v1?api-version=${version}`);
    t.is(chat, `https://res.openai.azure.com/openai/v1/chat/completions?api-version=${version}`);
  }
});

test("other parameters of the base URL stay, and so do paths that resemble Azure's", (t) => {
  t.is(
    addresses("https://proxy.example/openai-eu?team=a&api-version=2024-10-21").models,
    "https://proxy.example/openai-eu/openai/models?team=a&api-version=2024-10-21",
  );
});

test("the key is sent only in its own header", (t) => {
  const { chat, modelsEndpoint } = connect("https://res.openai.azure.com");
  for (const endpoint of [chat(deployment).endpoint, modelsEndpoint]) {
    t.deepEqual(endpoint.headers.slice(0, 2), ["api-key", secret]);
    t.false(endpoint.headers.includes("authorization"));
    t.false(endpoint.path.includes(secret));
    t.is(endpoint.secret, secret);
  }
  t.false(connect("https://res.openai.azure.com", null).modelsEndpoint.headers.includes("api-key"));
});

test("Azure speaks chat completions natively, as OpenAI does", (t) => {
  const { chat, embeddings } = connect("https://res.openai.azure.com");
  t.like(chat(deployment), {
    quirks: { maxTokensName: "max_completion_tokens", developerRole: "developer" },
  });
  t.is(embeddings(deployment)?.form, "native");
});

test("the model list is empty, since it does not contain deployments", (t) => {
  const { readModelNames } = connect("https://res.openai.azure.com");
  t.deepEqual(readModelNames({ object: "list", data: [{ id: "gpt-5-mini-2025-08-07" }] }), []);
  for (const list of [null, [], {}, { data: {} }, "models"]) t.is(readModelNames(list), null);
});

test("a malformed model name does not throw", (t) => {
  const { chat } = connect("https://res.openai.azure.com?api-version=2024-10-21");
  const { path } = chat({ name: "a\ud800", outputTokensMax: null }).endpoint;
  t.is(path, "/openai/deployments/a%EF%BF%BD/chat/completions?api-version=2024-10-21");
});
