import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import test from "ava";
import { createOpenApiDocument } from "../../gateway/v1/open-api/document.ts";
import { createV1Router } from "../../gateway/v1/router.ts";
import { isObject } from "../../gateway/wire/json.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { responsesClient } from "../helpers/responses-client.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";

type Content = Record<string, { schema?: object; example?: object }>;
type Operation = {
  operationId: string;
  security?: [];
  requestBody?: { content: Content };
  responses: Record<string, { content: Content }>;
};
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: object } };

const document = createOpenApiDocument() as Document;
const gateway = shareGateway();
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
  const answer = await fetch(`${gateway().url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${value}` },
    body: JSON.stringify({
      model: "demo/echo",
      messages: [{ role: "user", content: "one two" }],
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  const chunks = [...(await answer.text()).matchAll(/^data: (\{.*)$/gm)];
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
