import test from "ava";
import { azureOpenAi } from "../../../gateway/providers/azure-openai/azure-openai.ts";
import { bedrock } from "../../../gateway/providers/bedrock/bedrock.ts";
import type { Endpoint, UpstreamRequest } from "../../../gateway/providers/provider.ts";
import { signSigV4, type SigV4Identity } from "../../helpers/native-upstreams/sigv4-signature.ts";

const apiKey = "ABSKQmVkcm9ja0FQSUtleS1hYmNk";
const us = "https://bedrock-runtime.us-east-1.amazonaws.com";
const connect = (baseUrl = us, secret: string | null = apiKey) =>
  bedrock.connect({ baseUrl, secret, preset: null });

function chatOf(name: string, baseUrl = us) {
  const chat = connect(baseUrl).apis({ name, outputTokensMax: null })["chat/completions"];
  if (chat.quirks !== null) throw new Error("Bedrock speaks a form of its own");
  return chat;
}

const addressOf = ({ origin, path }: Endpoint) => `${origin}${path}`;

function headerOf({ headers }: Endpoint, name: string): string | undefined {
  const at = headers.indexOf(name);
  return at === -1 ? undefined : headers[at + 1];
}

test("a model has an endpoint for answers, one for streams and one for embeddings", (t) => {
  const { endpoint, streamEndpoint } = chatOf("amazon.nova-pro-v1:0");
  t.is(addressOf(endpoint), `${us}/model/amazon.nova-pro-v1%3A0/converse`);
  t.is(headerOf(endpoint, "accept"), "application/json");
  t.is(addressOf(streamEndpoint), `${us}/model/amazon.nova-pro-v1%3A0/converse-stream`);
  t.is(headerOf(streamEndpoint, "accept"), "application/vnd.amazon.eventstream");
  const embeddings = connect().apis({ name: "cohere.embed-english-v3", outputTokensMax: null }).embeddings;
  t.is(embeddings && addressOf(embeddings.endpoint), `${us}/model/cohere.embed-english-v3/invoke`);
});

test("models without embeddings have no embeddings endpoint", (t) => {
  for (const name of ["us.anthropic.claude-opus-4-8", "amazon.nova-2-multimodal-embeddings-v1:0"]) {
    t.is(connect().apis({ name, outputTokensMax: null }).embeddings, undefined);
  }
});

for (const [name, segment] of [
  [
    "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-6-v1",
    "arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Feu.anthropic.claude-opus-4-6-v1",
  ],
  ["../../x?y=", "..%2F..%2Fx%3Fy%3D"],
  ["a\ud800", "a%EF%BF%BD"],
] as const) {
  test(`the model name ${JSON.stringify(name)} stays one path segment`, (t) => {
    t.is(chatOf(name).endpoint.path, `/model/${segment}/converse`);
  });
}

for (const [baseUrl, runtime, control] of [
  [us, us, "https://bedrock.us-east-1.amazonaws.com"],
  [`${us}/`, us, "https://bedrock.us-east-1.amazonaws.com"],
  [
    "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
    "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
    "https://bedrock-fips.us-gov-west-1.amazonaws.com",
  ],
  [
    "https://vpce-0a1b-c2d3.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
    "https://vpce-0a1b-c2d3.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
    "https://vpce-0a1b-c2d3.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
  ],
  ["http://127.0.0.1:8080/aws/?region=ap-south-1", "http://127.0.0.1:8080/aws", "http://127.0.0.1:8080/aws"],
] as const) {
  test(`${baseUrl}: the runtime and the model list have their own hosts`, (t) => {
    t.is(addressOf(chatOf("m", baseUrl).endpoint), `${runtime}/model/m/converse`);
    t.is(addressOf(connect(baseUrl).modelsEndpoint), `${control}/foundation-models`);
  });
}

test("a Bedrock API key is sent in a header without a signature", (t) => {
  for (const endpoint of [chatOf("m").endpoint, chatOf("m").streamEndpoint, connect().modelsEndpoint]) {
    t.is(headerOf(endpoint, "authorization"), `Bearer ${apiKey}`);
    t.is(endpoint.secret, apiKey);
    t.is(endpoint.sign, undefined);
  }
});

test("without a credential a proxy receives none", (t) => {
  const { modelsEndpoint } = connect("https://proxy.example", null);
  t.is(headerOf(modelsEndpoint, "authorization"), undefined);
  t.is(modelsEndpoint.secret, null);
});

test("an invalid credential is rejected and not repeated", (t) => {
  for (const secret of ["", ":", "AKID:", ":secret", "AKID:secret:token:more", "AKID:sec ret", "key\nkey"]) {
    const error = t.throws(() => connect(us, secret), { code: "invalid_value" }, JSON.stringify(secret));
    t.false(error?.message.includes("sec ret"));
  }
});

test("an invalid region is rejected", (t) => {
  for (const region of ["", "us east", "a%0d%0ab", "us-east-1/"]) {
    t.throws(() => connect(`http://127.0.0.1?region=${region}`), { code: "invalid_value" }, region);
  }
});

test("a proxy with a name like AWS's hosts is not an AWS host", (t) => {
  const { modelsEndpoint } = connect("https://bedrock-runtime.example.com");
  t.is(addressOf(modelsEndpoint), "https://bedrock-runtime.example.com/foundation-models");
});

test("the model list names the models for text and embeddings", (t) => {
  const { readModelNames } = connect();
  const model = (modelId: string, output: string, inference: string) => ({
    modelArn: `arn:aws:bedrock:us-east-1::foundation-model/${modelId}`,
    modelId,
    inputModalities: ["TEXT"],
    outputModalities: [output],
    responseStreamingSupported: true,
    inferenceTypesSupported: [inference],
    modelLifecycle: { status: "ACTIVE" },
  });
  const names = readModelNames({
    modelSummaries: [
      model("openai.gpt-oss-120b-1:0", "TEXT", "ON_DEMAND"),
      model("anthropic.claude-opus-4-8", "TEXT", "INFERENCE_PROFILE"),
      model("amazon.titan-embed-text-v2:0", "EMBEDDING", "ON_DEMAND"),
      model("amazon.nova-canvas-v1:0", "IMAGE", "ON_DEMAND"),
      model("amazon.titan-embed-text-v2:0:8k", "EMBEDDING", "PROVISIONED"),
      { modelName: "without an id" },
      null,
    ],
  });
  t.deepEqual(names, [
    "openai.gpt-oss-120b-1:0",
    "anthropic.claude-opus-4-8",
    "amazon.titan-embed-text-v2:0",
  ]);
  for (const list of [null, [], {}, { modelSummaries: {} }, "models"]) t.is(readModelNames(list), null);
});

test("a model failure or timeout is the upstream's failure, not the client's", (t) => {
  const { effectiveStatus } = connect();
  t.is(effectiveStatus?.(408, { message: "Model has timed out in processing the request." }), 504);
  t.is(effectiveStatus?.(424, { message: "The model failed.", originalStatusCode: 503 }), 503);
  for (const body of [null, {}, [], { originalStatusCode: 200 }, { originalStatusCode: "503" }]) {
    t.is(effectiveStatus?.(424, body), 500);
  }
  for (const status of [400, 403, 404, 429, 500, 503]) {
    t.is(effectiveStatus?.(status, { message: "…", originalStatusCode: 424 }), status);
  }
});

const secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const identity: SigV4Identity = {
  accessKeyId: "AKIDEXAMPLE",
  secretKey,
  region: "us-east-1",
  service: "bedrock",
};
const date = new Date("2026-11-21T12:36:00.123Z");

function connectSigned(baseUrl: string, secret = `AKIDEXAMPLE:${secretKey}`) {
  const api = bedrock.connect({ baseUrl, secret, preset: null });
  const name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
  return { api, endpoint: api.apis({ name, outputTokensMax: null })["chat/completions"].endpoint };
}

async function headersOf(endpoint: Endpoint, request: UpstreamRequest): Promise<Record<string, string>> {
  const list = [...endpoint.headers, ...((await endpoint.sign?.(request)) ?? [])];
  const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? ""]] : []));
  return { ...Object.fromEntries(pairs), host: new URL(endpoint.origin).host };
}

test("the reference signature equals AWS's", (t) => {
  // The request is the case get-vanilla of AWS's test suite for Signature Version 4.
  const request = {
    method: "GET",
    url: "/",
    body: "",
    headers: {
      host: "example.amazonaws.com",
      "x-amz-date": "20150830T123600Z",
      authorization: "AWS4-HMAC-SHA256 SignedHeaders=host;x-amz-date",
    },
  };
  t.is(
    signSigV4(request, { ...identity, service: "service" }),
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  );
});

for (const [baseUrl, region] of [
  ["https://bedrock-runtime.eu-central-1.amazonaws.com", "eu-central-1"],
  ["https://vpce-0a1b.bedrock-runtime.ap-south-1.vpce.amazonaws.com", "ap-south-1"],
  ["http://127.0.0.1:8080/some/path?region=us-west-2", "us-west-2"],
  ["http://127.0.0.1:8080", "us-east-1"],
] as const) {
  test(`${baseUrl}: a request is signed for ${region} and passes AWS's verification`, async (t) => {
    const { api, endpoint } = connectSigned(baseUrl);
    for (const [signed, body] of [
      [endpoint, '{"messages":[{"role":"user","content":[{"text":"Grüezi 🌍"}]}]}'],
      [api.modelsEndpoint, ""],
    ] as const) {
      const method = body === "" ? "GET" : "POST";
      const headers = await headersOf(signed, { method, body: body === "" ? null : Buffer.from(body), date });
      t.is(headers["x-amz-date"], "20261121T123600Z");
      t.is(
        headers["authorization"],
        signSigV4({ method, url: signed.path, body, headers }, { ...identity, region }),
      );
    }
  });
}

test("headers that may change in transit are not signed", async (t) => {
  const headers = await headersOf(connectSigned("http://127.0.0.1").endpoint, {
    method: "POST",
    body: null,
    date,
  });
  const [, names] = /SignedHeaders=([^,]*)/.exec(headers["authorization"] ?? "") ?? [];
  t.is(names, "content-type;host;x-amz-content-sha256;x-amz-date");
});

test("the session token is sent and signed", async (t) => {
  const { endpoint } = connectSigned("http://127.0.0.1", `AKIDEXAMPLE:${secretKey}:token/with+signs==`);
  const body = "{}";
  const headers = await headersOf(endpoint, { method: "POST", body: Buffer.from(body), date });
  t.is(headers["x-amz-security-token"], "token/with+signs==");
  t.regex(headers["authorization"] ?? "", /x-amz-security-token/);
  t.is(headers["authorization"], signSigV4({ method: "POST", url: endpoint.path, body, headers }, identity));
});

test("no header contains the secret key, and it is hidden with the other secrets", async (t) => {
  const credential = `AKIDEXAMPLE:${secretKey}:token`;
  const { endpoint, api } = connectSigned("http://127.0.0.1", credential);
  for (const signed of [endpoint, api.modelsEndpoint]) {
    const headers = await headersOf(signed, { method: "GET", body: null, date });
    t.false(JSON.stringify(headers).includes(secretKey));
    t.is(signed.secret, credential);
  }
});

const secret = "0123456789abcdef0123456789abcdef";
const azureOpenaiConnect = (baseUrl: string, key: string | null = secret) =>
  azureOpenAi.connect({ baseUrl, secret: key, preset: null });

const deployment = { name: "our gpt/5", outputTokensMax: null };
const azureOpenaiAddressOf = ({ origin, path }: { origin: string; path: string }) => `${origin}${path}`;

function addresses(baseUrl: string): { chat: string; embeddings: string; models: string } {
  const { apis, modelsEndpoint } = azureOpenaiConnect(baseUrl);
  const { "chat/completions": chat, embeddings } = apis(deployment);
  return {
    chat: azureOpenaiAddressOf(chat.endpoint),
    embeddings: azureOpenaiAddressOf(embeddings?.endpoint ?? { origin: "", path: "" }),
    models: azureOpenaiAddressOf(modelsEndpoint),
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
  const { apis, modelsEndpoint } = azureOpenaiConnect("https://res.openai.azure.com");
  for (const endpoint of [apis(deployment)["chat/completions"].endpoint, modelsEndpoint]) {
    t.deepEqual(endpoint.headers.slice(0, 2), ["api-key", secret]);
    t.false(endpoint.headers.includes("authorization"));
    t.false(endpoint.path.includes(secret));
    t.is(endpoint.secret, secret);
  }
  t.false(
    azureOpenaiConnect("https://res.openai.azure.com", null).modelsEndpoint.headers.includes("api-key"),
  );
});

test("Azure speaks chat completions natively, as OpenAI does", (t) => {
  const { "chat/completions": chat, embeddings } = azureOpenaiConnect("https://res.openai.azure.com").apis(
    deployment,
  );
  t.like(chat, {
    quirks: { maxTokensName: "max_completion_tokens", developerRole: "developer" },
  });
  t.truthy(embeddings?.endpoint);
  t.is(embeddings?.translation, undefined);
});

test("the model list is empty, since it does not contain deployments", (t) => {
  const { readModelNames } = azureOpenaiConnect("https://res.openai.azure.com");
  t.deepEqual(readModelNames({ object: "list", data: [{ id: "gpt-5-mini-2025-08-07" }] }), []);
  for (const list of [null, [], {}, { data: {} }, "models"]) t.is(readModelNames(list), null);
});

test("a malformed model name does not throw", (t) => {
  const { apis } = azureOpenaiConnect("https://res.openai.azure.com?api-version=2024-10-21");
  const { path } = apis({ name: "a\ud800", outputTokensMax: null })["chat/completions"].endpoint;
  t.is(path, "/openai/deployments/a%EF%BF%BD/chat/completions?api-version=2024-10-21");
});
