import test from "ava";
import { gemini } from "../../../gateway/providers/gemini/gemini.ts";

const secret = "AIzaSyTestKey";
const baseUrl = "https://generativelanguage.googleapis.com/v1beta";
const connect = (url = baseUrl, key: string | null = secret) =>
  gemini.connect({ baseUrl: url, secret: key, preset: null });

function chatOf(name: string, url = baseUrl) {
  const chat = connect(url).chat({ name, outputTokensMax: null });
  if (chat.quirks !== null) throw new Error("Gemini speaks a form of its own");
  return chat;
}

test("a model has an endpoint for answers, one for streams and one for embeddings", (t) => {
  const { endpoint, streamEndpoint } = chatOf("gemini-2.5-flash");
  t.is(endpoint.origin, "https://generativelanguage.googleapis.com");
  t.is(endpoint.path, "/v1beta/models/gemini-2.5-flash:generateContent");
  t.is(streamEndpoint.path, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  const embeddings = connect().embeddings({ name: "gemini-embedding-001", outputTokensMax: null });
  t.is(embeddings?.endpoint.path, "/v1beta/models/gemini-embedding-001:batchEmbedContents");
});

test("the key is sent in a header, never in the URL", (t) => {
  const { modelsEndpoint } = connect();
  for (const endpoint of [modelsEndpoint, chatOf("a").endpoint, chatOf("a").streamEndpoint]) {
    t.deepEqual(endpoint.headers.slice(0, 2), ["x-goog-api-key", secret]);
    t.false(endpoint.path.includes(secret));
    t.is(endpoint.secret, secret);
  }
  t.false(connect(baseUrl, null).modelsEndpoint.headers.includes("x-goog-api-key"));
});

test("a base URL keeps its own path and query", (t) => {
  const url = "https://proxy.example:8443/google/v1beta/?team=a";
  t.is(chatOf("m", url).endpoint.path, "/google/v1beta/models/m:generateContent?team=a");
  t.is(chatOf("m", url).streamEndpoint.path, "/google/v1beta/models/m:streamGenerateContent?team=a&alt=sse");
});

for (const [name, path] of [
  ["models/gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:generateContent"],
  ["../../v1/files?x=", "/v1beta/models/..%2F..%2Fv1%2Ffiles%3Fx%3D:generateContent"],
  ["a b#ü%\ud800", "/v1beta/models/a%20b%23%C3%BC%25%EF%BF%BD:generateContent"],
] as const) {
  test(`the model name ${JSON.stringify(name)} cannot change the path`, (t) => {
    t.is(chatOf(name).endpoint.path, path);
  });
}

test("the model list is one page of chat and embedding models", (t) => {
  const { modelsEndpoint, readModelNames } = connect();
  t.is(modelsEndpoint.path, "/v1beta/models?pageSize=1000");
  const names = readModelNames({
    models: [
      { name: "models/gemini-2.5-pro", supportedGenerationMethods: ["generateContent", "countTokens"] },
      { name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] },
      { name: "models/imagen-4.0-generate-001", supportedGenerationMethods: ["predict"] },
      { name: "models/of-tomorrow" },
      { displayName: "without a name" },
      null,
    ],
  });
  t.deepEqual(names, ["gemini-2.5-pro", "gemini-embedding-001", "of-tomorrow"]);
  for (const list of [null, [], {}, { models: {} }, "models"]) t.is(readModelNames(list), null);
});

test("a key unknown to Google becomes 401, and other errors keep their status", (t) => {
  const { effectiveStatus } = connect();
  const error = (reason: string) => ({
    error: {
      code: 400,
      message: "API key not valid. Please pass a valid API key.",
      status: "INVALID_ARGUMENT",
      details: [
        { "@type": "type.googleapis.com/google.rpc.LocalizedMessage", locale: "en-US" },
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" },
      ],
    },
  });
  t.is(effectiveStatus?.(400, error("API_KEY_INVALID")), 401);
  t.is(effectiveStatus?.(400, [error("API_KEY_INVALID")]), 401);
  t.is(effectiveStatus?.(400, error("OTHER")), 400);
  t.is(effectiveStatus?.(503, error("API_KEY_INVALID")), 503);
  for (const body of [null, [], {}, { error: "x" }, { error: { details: [null] } }]) {
    t.is(effectiveStatus?.(400, body), 400);
  }
});
