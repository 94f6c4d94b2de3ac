import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import test, { type ExecutionContext } from "ava";
import { createOpenApiDocument } from "../../gateway/v1/open-api/document.ts";
import { createV1Router } from "../../gateway/v1/router.ts";
import { isObject } from "../../gateway/wire/json.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { anthropicForm, claudeOpus } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { Answer, Asked } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import { loadOpenAiSchemas } from "../helpers/openai-schemas.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { responsesClient } from "../helpers/responses-client.ts";
import { type Frame, openSocket, responseOf } from "../helpers/responses-socket.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile, shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { type Connection, connectVendor } from "../scenarios/connect-vendor.ts";
import type { Vendor } from "../scenarios/vendors.ts";

// These tests repeat the Open Responses compliance tests (openresponses.org), with upstreams as strict as the real
// vendors.
const shared = sharedByFile();
const gateway = shareGateway();
const schemas = loadOpenAiSchemas();

const takesThoughts = "sealed";
const vendors: Record<string, Vendor> = {
  OpenAI: { name: "openai", preset: "openai", form: responsesForm, takesThoughts },
  chat: { name: "chat", form: openAiForm, takesThoughts: "as text of chat" },
  Claude: { name: "claude", form: anthropicForm(claudeOpus), takesThoughts },
  Gemini: { name: "gemini", form: geminiForm({ name: "gemini-3-flash", generation: 3 }), takesThoughts },
};

/** Calls the tool if its result is missing. Otherwise, repeats the code words of the conversation. */
function answer({ turns, tools, system }: Asked): Answer {
  const text = JSON.stringify([system, turns]);
  const words = text.match(/papaya|cobalt|Alice|pirate|slate/g) ?? [];
  const isCalled = tools.length > 0 && !text.includes("22 degrees");
  return {
    thoughts: [],
    text: isCalled ? [] : ["You said: ", [...new Set(words)].join(", ") || "hello"],
    calls: isCalled ? [{ name: "get_weather", input: { location: "Rome" } }] : [],
    finish: isCalled ? "tool_calls" : "stop",
    usage: { input: 20, cached: 0, cacheWritten: 0, output: 5, thinking: 0 },
    ending: "complete",
  };
}

const user = (content: unknown) => ({ type: "message", role: "user", content });
const tools = [
  {
    type: "function",
    name: "get_weather",
    description: "The weather of a place.",
    parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
  },
];

/** Members that Open Responses requires beyond OpenAI's schema. */
const required = ["completed_at", "presence_penalty", "frequency_penalty", "safety_identifier", "usage"];

type Item = { type: string; call_id?: string; content?: { text: string }[] };
type Shown = { id: string; status: string; object: string; output: Item[] };

for (const [name, vendor] of Object.entries(vendors)) {
  const isNative = vendor.preset === "openai";
  let connecting: Promise<Connection> | undefined;
  const connect = () => (connecting ??= connectVendor(shared, gateway(), vendor, answer));

  async function post(path: string, body: object): Promise<{ status: number; text: string }> {
    const { options } = await connect();
    const headers = { authorization: `Bearer ${options.apiKey}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ model: options.model, ...body }) };
    const response = await fetch(`${options.baseUrl}${path}`, init);
    return { status: response.status, text: await response.text() };
  }

  async function create(t: ExecutionContext, body: object): Promise<Shown> {
    const { status, text } = await post("/responses", body);
    t.is(status, 200, text);
    const response = JSON.parse(text) as Shown;
    checkResponse(t, response);
    return response;
  }

  /** Skips responses of native upstreams, because their members pass unchanged. */
  function checkResponse(t: ExecutionContext, response: object): void {
    if (isNative) return;
    t.deepEqual(schemas?.faultsOfAnswer(response) ?? [], []);
    for (const member of required) t.true(member in response, member);
    t.like(response, { service_tier: "default" });
  }

  function checkEvents(t: ExecutionContext, events: readonly Frame[]): void {
    if (!isNative) for (const event of events) t.deepEqual(schemas?.faultsOfEvent(event) ?? [], []);
    const response = responseOf(events);
    checkResponse(t, response);
    t.is(response.status, "completed");
  }

  async function open(t: ExecutionContext) {
    const { options } = await connect();
    const socket = await openSocket(t, gateway(), options.apiKey);
    const { model } = options;
    return { turn: (body: object) => socket.turn({ model, store: false, ...body }) };
  }

  const textOf = ({ output }: Pick<Shown, "output">) => output.at(-1)?.content?.[0]?.text;

  test(`${name}: a response has text and every required member`, async (t) => {
    const response = await create(t, { input: [user("Say hello.")] });
    t.is(response.status, "completed");
    t.is(textOf(response), "You said: hello");
  });

  test(`${name}: every event of a stream is valid`, async (t) => {
    const { text } = await post("/responses", { input: [user("Count.")], stream: true });
    const data = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as Frame);
    checkEvents(t, data);
  });

  test(`${name}: instructions and earlier turns reach the model`, async (t) => {
    const system = { type: "message", role: "system", content: "You are a pirate." };
    const assistant = { type: "message", role: "assistant", phase: "final_answer", content: "Hello Alice!" };
    const response = await create(t, { input: [system, user("I am Alice."), assistant, user("My name?")] });
    t.is(textOf(response), "You said: pirate, Alice");
  });

  test(`${name}: a tool is called, and its result continues the conversation`, async (t) => {
    const input = user("The weather in Rome?");
    const tool_choice = { type: "function", name: "get_weather" };
    const first = await create(t, { input: [input], tools, tool_choice });
    const call = first.output.find(({ type }) => type === "function_call");
    t.truthy(call?.call_id);
    const result = { type: "function_call_output", call_id: call?.call_id, output: "22 degrees" };
    const second = await create(t, { input: [input, ...first.output, result], tools });
    t.is(second.output.at(-1)?.type, "message");
  });

  test(`${name}: an image and a file are accepted`, async (t) => {
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const image = { type: "input_image", image_url: `data:image/png;base64,${pixel}` };
    await create(t, { input: [user([{ type: "input_text", text: "What is this?" }, image])] });
    const file_data = `data:application/pdf;base64,${Buffer.from("%PDF-1.1\n%%EOF").toString("base64")}`;
    const file = { type: "input_file", filename: "one.pdf", file_data };
    await create(t, { input: [user([{ type: "input_text", text: "Its title?" }, file])] });
  });

  test(`${name}: a conversation is compacted and continues over a WebSocket`, async (t) => {
    const history = [user("Remember: slate."), { type: "message", role: "assistant", content: "OK." }];
    const { status, text } = await post("/responses/compact", { input: history });
    // The scripted OpenAI does not support compaction.
    if (isNative) return t.is(status, 404, text);
    t.is(status, 200, text);
    const compacted = JSON.parse(text) as Shown;
    t.is(compacted.object, "response.compaction");
    t.true(compacted.output.some(({ type }) => type === "compaction"));
    const { turn } = await open(t);
    const events = await turn({ input: [...compacted.output, user("Continue.")], tools: [] });
    checkEvents(t, events);
    t.regex(textOf(responseOf(events)) ?? "", /slate/);
  });

  test(`${name}: compaction without a model gets 400`, async (t) => {
    t.is((await post("/responses/compact", { model: undefined, input: [user("Hi")] })).status, 400);
  });

  // The scripted OpenAI keeps no responses.
  if (!isNative) {
    test(`${name}: previous_response_id continues a stored response`, async (t) => {
      const first = await create(t, { input: "Remember: papaya." });
      const second = await create(t, { input: "Which word?", previous_response_id: first.id });
      t.is(textOf(second), "You said: papaya");
    });
  }

  test(`${name}: a WebSocket serves one response after another`, async (t) => {
    const { turn } = await open(t);
    checkEvents(t, await turn({ input: [user("Count.")] }));
    checkEvents(t, await turn({ input: "Reply with: second" }));
  });

  test(`${name}: a WebSocket continues a response that is not stored`, async (t) => {
    const { turn } = await open(t);
    const first = responseOf(await turn({ input: "Remember: cobalt." }));
    const events = await turn({ input: "Which word?", previous_response_id: first.id });
    checkEvents(t, events);
    t.is(textOf(responseOf(events)), "You said: cobalt");
  });

  if (!isNative) {
    test(`${name}: a new WebSocket refuses the response, then starts another`, async (t) => {
      const first = responseOf(await (await open(t)).turn({ input: "Remember: cobalt." }));
      const { turn } = await open(t);
      t.like(await turn({ input: "Go on.", previous_response_id: first.id }), [notFound]);
      checkEvents(t, await turn({ input: [user("Start again.")] }));
      const [missing] = await turn({ input: "Go on.", previous_response_id: "resp_missing_1" });
      t.like(missing, notFound);
    });

    test(`${name}: a failed turn drops the response that it refers to`, async (t) => {
      const { turn } = await open(t);
      const { id } = responseOf(await turn({ input: "Remember: cobalt." }));
      const orphan = { type: "function_call_output", call_id: "call_missing", output: "?" };
      const failed = await turn({ input: [orphan], previous_response_id: id });
      t.like(failed, [{ type: "error", status: 400 }]);
      t.like(await turn({ input: "Go on.", previous_response_id: id }), [notFound]);
    });
  }
}

const notFound = {
  type: "error",
  status: 400,
  error: { code: "previous_response_not_found", param: "previous_response_id" },
};

type Content = Record<string, { schema?: object; example?: object }>;
type Operation = {
  operationId: string;
  security?: [];
  requestBody?: { content: Content };
  responses: Record<string, { content: Content }>;
};
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: object } };

const document = createOpenApiDocument() as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

const ajv = new Ajv2020({ allowUnionTypes: true, strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: "document", ...document });

/** Returns the violations of the document, or an empty string for a valid body. */
function faultsOf({ path, method }: { path: string; method: string }, status: number, body: unknown): string {
  const responses = document.paths[path]?.[method]?.responses ?? {};
  const key = [String(status), "4XX"].find(
    (each) => each in responses && each.startsWith(String(status)[0] ?? ""),
  );
  if (key === undefined) return `${status} is not in the document`;
  const pointer = ["paths", path, method, "responses", key, "content", "application/json", "schema"];
  const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")));
  const validate = ajv.compile({ $ref: `document#/${escaped.join("/")}` });
  return validate(body) ? "" : `${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`;
}

test("the document equals the checked-in one: run `npm run openapi:document`", (t) => {
  const checkedIn = new URL("../../gateway/v1/open-api/openapi.json", import.meta.url);
  t.deepEqual(document, JSON.parse(readFileSync(checkedIn, "utf8")));
});

test("the document is public", async (t) => {
  const answer = await fetch(`${gateway().url}/openapi.json`);
  t.is(answer.status, 200);
  t.deepEqual(await answer.json(), document);
});

test("the document lists exactly the existing endpoints", (t) => {
  const { stack } = createV1Router({ ...gateway().services, trustedProxies: 0 });
  const routes = stack.flatMap(({ route }) => (route ? [route] : []));
  const served = routes
    .filter(({ path }) => path !== "/api/hello")
    .flatMap(({ path, stack: layers }) =>
      layers.flatMap(({ method }) =>
        method ? `${method} ${String(path).replace(/[*:](\w+)/, "{$1}")}` : [],
      ),
    );
  const health = ["get /healthz", "get /readyz"];
  t.deepEqual(
    operations.map(({ method, path }) => `${method} ${path}`).toSorted(),
    [...served, ...health].toSorted(),
  );
});

test("every reference resolves, and every operation id is unique", (t) => {
  const refs = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
  for (const [, path = ""] of refs) {
    const found = path
      .split("/")
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], document);
    t.truthy(found, path);
  }
  t.is(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
});

test("every array has a schema for its items", (t) => {
  const bare: string[] = [];
  JSON.stringify(document, (_key, value: unknown) => {
    const { type, items } = isObject(value) ? value : {};
    if ([type].flat().includes("array") && items === undefined) bare.push(JSON.stringify(value));
    return value;
  });
  t.deepEqual(bare, []);
});

for (const operation of operations) {
  const { path, method } = operation;
  const example = operation.requestBody?.content["application/json"]?.example;
  test(`${method} ${path} answers as documented, with the example and without a key`, async (t) => {
    const { value } = await createKey(gateway(), [...(await modelsOf(t, path))]);
    const id = path.includes("{id}") ? await keptResponse(value) : "";
    const address = path.replace("{slug}", "demo/echo").replace("{id}", id);
    const send = (headers: Record<string, string>) =>
      fetch(gateway().url + address, {
        method: method.toUpperCase(),
        headers: { "content-type": "application/json", ...headers },
        ...(example && { body: JSON.stringify(example) }),
      });
    const answer = await send({ authorization: `Bearer ${value}` });
    t.is(answer.status, 200);
    t.is(faultsOf(operation, 200, await answer.json()), "");
    if (operation.security) return;
    const refused = await send(path.startsWith("/v1/models") ? {} : { "anthropic-version": "2023-06-01" });
    t.is(refused.status, 401);
    t.is(faultsOf(operation, 401, await refused.json()), "");
  });
}

async function keptResponse(keyValue: string): Promise<string> {
  const input = { model: "demo/echo", input: "Hello" };
  return (await responsesClient(gateway(), keyValue).create(input)).id;
}

/** Returns the models for the path's example. The demo provider has no embeddings, so another provider serves them. */
async function modelsOf(t: Parameters<typeof createUpstream>[0], path: string): Promise<string[]> {
  if (path !== "/v1/embeddings") return ["demo/echo"];
  const upstream = await createUpstream(t, (_request, response) => {
    const data = [{ object: "embedding", index: 0, embedding: [0.5, -1] }];
    const usage = { prompt_tokens: 4, total_tokens: 4 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data, model: "upstream-model", usage }));
  });
  await connectUpstream(gateway(), upstream, { name: "openai" });
  const providers = await gateway().admin.providers.list.query();
  const providerId = providers.find(({ name }) => name === "openai")?.id ?? "";
  const slug = "openai/text-embedding-3-small";
  await gateway().admin.models.create.mutate({ slug, providerId, upstreamModel: "upstream-model" });
  return [slug];
}

test("errors are among the documented ones, with their statuses", async (t) => {
  const { value } = await createKey(gateway());
  for (const operation of operations.filter(({ requestBody }) => requestBody)) {
    const { path, method } = operation;
    for (const body of [
      "[]",
      "{}",
      '{"model":"a/b","messages":[{"role":"user","content":"Hi"}],"input":"x","max_tokens":1,"tools":[null]}',
      '{"model":"a/b","messages":[{"role":"user","content":"Hi"}],"input":"x","max_tokens":1}',
    ]) {
      const headers = { authorization: `Bearer ${value}`, "content-type": "application/json" };
      const answer = await fetch(gateway().url + path, { method: method.toUpperCase(), headers, body });
      t.true(answer.status >= 400 && answer.status < 500);
      t.is(faultsOf(operation, answer.status, await answer.json()), "", `${path} ${body}`);
    }
  }
});

test("stream chunks match the document", async (t) => {
  const { value } = await createKey(gateway());
  const validate = ajv.compile({ $ref: "document#/components/schemas/ChatCompletionChunk" });
  const more = { stream: true, stream_options: { include_usage: true } };
  const { text } = await postChat(gateway(), value, chatBody("demo/echo", "one two", more));
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)];
  t.true(chunks.length > 2);
  for (const [, chunk = ""] of chunks)
    t.true(validate(JSON.parse(chunk)), `${ajv.errorsText(validate.errors)} ${chunk}`);
});

test("Anthropic's header selects the documented Anthropic form of the models", async (t) => {
  const { value } = await createKey(gateway());
  const headers = { "x-api-key": value, "anthropic-version": "2023-06-01" };
  for (const [path, shown] of [
    ["/v1/models", "/v1/models"],
    ["/v1/models/demo%2Fecho", "/v1/models/{slug}"],
  ] as const) {
    const answer = await fetch(gateway().url + path, { headers });
    t.is(faultsOf({ path: shown, method: "get" }, 200, await answer.json()), "");
  }
});

for (const format of ["OpenAI", "Anthropic"]) {
  test(`errors and limits of the models in the format of ${format} match the document`, async (t) => {
    const { value } = await createKey(gateway());
    const version: Record<string, string> =
      format === "Anthropic" ? { "anthropic-version": "2023-06-01" } : {};
    const list = "/v1/models";
    const [accepted, refused] = format === "OpenAI" ? [200, 200] : [200, 400];
    for (const [query, path, key, status] of [
      ["", list, "unknown", 401],
      ["?limit=1000", list, value, accepted],
      ["?limit=1001", list, value, refused],
      ["?before_id=", list, value, refused],
      ["?client_version=1", list, value, 200],
      ["/0", "/v1/models/{slug}", value, 404],
    ] as const) {
      const headers = { authorization: `Bearer ${key}`, ...version };
      const answer = await fetch(gateway().url + list + query, { headers });
      t.is(answer.status, status, query);
      t.is(faultsOf({ path, method: "get" }, status, await answer.json()), "", query);
    }
  });
}

test("a status of the provider matches the document", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => {
    response.writeHead(422, { "content-type": "application/json" });
    response.end('{"error":{"message":"No."}}');
  });
  const { value, model } = await connectUpstream(gateway(), upstream, { name: "strict" });
  for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/embeddings"]) {
    const body = JSON.stringify({
      model,
      messages: [{ role: "user", content: "Hi" }],
      input: "x",
      max_tokens: 1,
    });
    const headers = { authorization: `Bearer ${value}` };
    const answer = await fetch(gateway().url + path, { method: "POST", headers, body });
    t.is(answer.status, 422);
    t.is(faultsOf({ path, method: "post" }, 422, await answer.json()), "", path);
  }
});
