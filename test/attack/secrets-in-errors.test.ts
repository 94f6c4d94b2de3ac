import type { ServerResponse } from "node:http";
import test from "ava";
import { createModel } from "../helpers/connect-upstream.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { postTo } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { chunkEvent, createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { findKeyPieces } from "./find-key-pieces.ts";
import { keyQuotes } from "./key-quotes.ts";

// An upstream's error may quote the provider's credential, which must not reach clients, the log or usage records.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let key: { id: string; value: string };
let answer: (response: ServerResponse) => void;

const canary = "pvk/CANARY+9xQz7/abKm04Rt+Ew==";
const awsCredential = "AKIACANARY0EXAMPLE01:wJalrXUtnFEMI/K7MDENG+bPxRfiCY:IQoJb3JpZ2luX2VjEO3/Vw+Cg==";

const providers = [
  { name: "chat", kind: "openai-compatible", path: "/v1" },
  { name: "openai", kind: "openai-compatible", preset: "openai", path: "/v1" },
  { name: "claude", kind: "anthropic", path: "/v1" },
  { name: "gemini", kind: "gemini", path: "/v1beta" },
  { name: "azure", kind: "azure-openai", path: "" },
  {
    name: "aws",
    kind: "bedrock",
    path: "",
    apiKey: awsCredential,
    upstreamModel: "amazon.titan-embed-text-v2:0",
  },
] as const;
const providerIds: string[] = [];

test.before(async () => {
  upstream = await createUpstream(shared, (_request, response) => answer(response));
  gateway = await startTestGateway(shared);
  for (const provider of providers) {
    const { providerId } = await createModel(gateway, upstream, { apiKey: canary, ...provider });
    providerIds.push(providerId);
  }
  key = await createKey(
    gateway,
    providers.map(({ name }) => `${name}/model`),
  );
});

const messages = [{ role: "user", content: "Hello" }];
const endpoints: Record<string, object> = {
  "chat/completions": { messages, max_tokens: 5 },
  messages: { messages, max_tokens: 5 },
  responses: { input: "Hello" },
  embeddings: { input: "Hello" },
};

/** Each of `endpoints` with every provider that supports it. */
const ways = Object.entries(endpoints).flatMap(([path, body]) =>
  providers
    .filter(({ name }) => path !== "embeddings" || name !== "claude")
    .map(({ name }) => ({ path, name, body: { model: `${name}/model`, ...body } })),
);

async function send(path: string, body: object): Promise<string> {
  const { headers, text } = await postTo(
    gateway,
    `/v1/${path}`,
    { authorization: `Bearer ${key.value}` },
    body,
  );
  return `${JSON.stringify([...headers])}\n${text}`;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "x-debug": canary });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

const secretOf = (name: string) => (name === "aws" ? awsCredential : canary);

for (const [row, { path, name, body }] of ways.entries()) {
  test.serial(`${path} at ${name}: a status 400 hides every part of the key`, async (t) => {
    const secret = secretOf(name);
    for (const [index, [how, quote]] of Object.entries(keyQuotes).entries()) {
      const quoted = quote(secret);
      const errors = [
        { message: `Bad key: ${quoted} (is it yours?)`, type: quoted, param: quoted, code: quoted },
        quoted,
      ];
      // Below full scale, each row sends an eighth of the errors, and each provider receives every quote.
      for (const error of errors.filter((_, place) => isFull || (row + index + 4 * place) % 8 === 0)) {
        answer = (response) => sendJson(response, 400, { error });
        const text = await send(path, body);
        t.regex(text, /error/);
        t.deepEqual(findKeyPieces(text, secret), [], `${how}: ${text}`);
      }
    }
  });
}

const isTried = (row: number, index: number) => isFull || (row + index) % 6 === 0;

const wireForms: Record<string, (secret: string) => string> = {
  slashes: (secret) => secret.replaceAll("/", "\\/"),
  signs: (secret) => secret.replaceAll(/\W/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  "every character": (secret) =>
    [...secret].map((sign) => `\\u00${sign.charCodeAt(0).toString(16).toUpperCase()}`).join(""),
};

for (const [how, escape] of Object.entries(wireForms)) {
  test.serial(`a status 400 with ${how} of the key escaped in its JSON hides every part`, async (t) => {
    for (const [row, { path, name, body }] of ways.entries()) {
      const secret = secretOf(name);
      const texts = [
        `{"error":{"message":"Bad key ${escape(secret)}","code":"${escape(secret)}"}}`,
        `{"error":{"message":"Bad key","details":[{"x":"${escape(secret)}"}],"${escape(secret)}":1}}`,
        `{"message":"Bad key ${escape(secret)}"}`,
        `Bad key: ${escape(secret)}`,
        `<html>${escape(secret)}</html>`,
        `{"error":{"message":"Bad key ${escape(secret)}`,
        `[{"error":{"message":"${escape(secret).slice(0, 40)}","type":"${escape(secret).slice(40)}"}}]`,
      ];
      for (const text of texts.filter((_, place) => isTried(row, place))) {
        answer = (response) => sendJson(response, 400, text);
        const shown = await send(path, body);
        t.deepEqual(findKeyPieces(shown, secret), [], `${path} at ${name}: ${shown}`);
      }
    }
  });
}

const events: Record<string, (message: string) => string> = {
  chat: (message) => `${chunkEvent("Hel")}data: ${JSON.stringify({ error: { message, code: message } })}\n\n`,
  openai: (message) =>
    `event: error\ndata: ${JSON.stringify({ type: "error", code: message.slice(0, 60), message })}\n\n`,
  claude: (message) =>
    `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: message, message } })}\n\n`,
  gemini: (message) => `data: ${JSON.stringify({ error: { code: 500, message, status: message } })}\n\n`,
};

for (const [row, { path, name, body }] of ways.filter((way) => way.path !== "embeddings").entries()) {
  const event = events[name === "openai" && path !== "responses" ? "chat" : name];
  if (event === undefined) continue;
  test.serial(`${path} at ${name}: an error event hides every part of the key`, async (t) => {
    for (const [how, quote] of Object.entries(keyQuotes).filter((_, index) => isTried(row, index))) {
      answer = (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const text = event(`No memory for ${quote(canary)}.`);
        response.write(text.slice(0, -9));
        response.end(text.slice(-9));
      };
      const text = await send(path, { ...body, stream: true });
      t.regex(text, /error/);
      t.deepEqual(findKeyPieces(text, canary), [], `${how}: ${text}`);
    }
  });
}

test.serial("a provider test in the console hides every part of the key", async (t) => {
  for (const [at, { name }] of providers.entries()) {
    const id = providerIds[at] ?? "";
    for (const [how, quote] of Object.entries(keyQuotes).filter((_, index) => isTried(at, index))) {
      for (const status of isFull ? [400, 402, 429, 500] : [429]) {
        answer = (response) =>
          sendJson(response, status, { error: { message: `Bad: ${quote(secretOf(name))}` } });
        const { message, credentials } = await gateway.admin.providers.test.mutate({ id });
        const text = [message, ...credentials.map((each) => each.message)].join("\n");
        t.deepEqual(findKeyPieces(text, secretOf(name)), [], `${how}: ${text}`);
      }
      const error = await t.throwsAsync(gateway.admin.providers.discoverModels.query({ id }));
      t.deepEqual(findKeyPieces(String(error?.message), secretOf(name)), [], how);
    }
  }
});

test.serial("a message without the key stays unchanged", async (t) => {
  for (const message of [
    "The model `gpt-4o` does not exist: see https://example.com/v1?x=%20&amp;y=1 \\ 100 %.",
    "messages.1.content: Input should be a valid list, 'Zm9vYmFy' is none.",
  ]) {
    answer = (response) => sendJson(response, 400, { error: { message, code: "context_length_exceeded" } });
    const text = await send("chat/completions", { model: "chat/model", messages });
    t.true(text.includes(JSON.stringify(message)), text);
    t.true(text.includes('"context_length_exceeded"'));
  }
});

test.serial("an error of 60 KB of escapes contains no part of a key", async (t) => {
  for (const piece of [
    "\\",
    "%25",
    "&amp;",
    "&#0000",
    "a",
    " ",
    "a ",
    "eHB2",
    "7a",
    canary,
    canary.slice(0, 7),
  ]) {
    const message = piece.repeat(60_000 / piece.length);
    answer = (response) => sendJson(response, 400, { error: { message } });
    t.deepEqual(findKeyPieces(await send("chat/completions", { model: "chat/model", messages }), canary), []);
  }
});

// `test.after` hooks run before the `test.after.always` hook that stops the gateway.
test.after("neither the log nor a record contains part of a key", async (t) => {
  const records = await usageOf(gateway, key.id);
  t.true(records.length > 0);
  const texts = [gateway.log.join("\n"), await dumpDatabase(gateway.environment["DATABASE_URL"] ?? "")];
  for (const secret of [canary, awsCredential]) {
    for (const text of texts) t.deepEqual(findKeyPieces(text, secret), []);
  }
});
