import test from "ava";
import OpenAI from "openai";
import { responses } from "../helpers/client-dialects.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { sealThought } from "../helpers/native-upstreams/thought-seal.ts";
import { responsesClient, weatherResultOf, weatherTool } from "../helpers/responses-client.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { connectWeather, createWeatherUpstream } from "../helpers/weather-upstream.ts";

// The tests in test/kept-responses cover limits and expiry.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let models: string[];

test.before(async () => {
  upstream = await createWeatherUpstream(shared);
  gateway = await startTestGateway(shared);
  models = await connectWeather(gateway, upstream);
});

async function newClient() {
  return responsesClient(gateway, (await createKey(gateway, models)).value);
}

const seen = (mark: string) => upstream.requests.flatMap(({ body }) => (body.includes(mark) ? [body] : []));

const tools = [weatherTool];
/** The beginning of every signature. */
const seal = sealThought("").slice(0, 8);

for (const model of ["chat/model", "claude/model", "gemini/model"]) {
  for (const stream of [false, true]) {
    const how = stream ? "streamed" : "whole";

    test(`${model}: three ${how} turns by previous_response_id keep the conversation`, async (t) => {
      const client = await newClient();
      const mark = `Weather ${model} ${how} by response`;
      const first = await client.create({ model, input: mark, tools, stream });
      t.like(first, { status: "completed", store: true, previous_response_id: null });
      const second = await client.create({
        model,
        previous_response_id: first.id,
        input: [weatherResultOf(first)],
        tools,
        stream,
      });
      t.like(second, { store: true, previous_response_id: first.id });
      t.like(second.output, [{ type: "message", content: [{ text: "It is sunny." }] }]);
      await client.create({ model, previous_response_id: second.id, input: "And tomorrow?", stream });

      const [, , last = ""] = seen(mark);
      const parts = [mark, "Let me look.", "22 degrees", "It is sunny.", "And tomorrow?"];
      for (const part of parts) t.is(last.split(part).length - 1, 1, part);
      t.false(last.includes("previous_response_id"));
      // Claude and Gemini require their signatures, but the client did not request them.
      t.is(last.includes(seal), model !== "chat/model");
      t.true(first.output.every((item) => item.encrypted_content === undefined));
    });

    test(`${model}: a ${how} turn resolves item references`, async (t) => {
      const client = await newClient();
      const mark = `Weather ${model} ${how} by item`;
      const question = { role: "user", content: mark };
      const first = await client.create({ model, input: [question], tools, stream });
      const references = first.output.map(({ id }) => ({ type: "item_reference", id }));
      const input = [question, ...references, weatherResultOf(first)];
      const second = await client.create({ model, input, tools, stream });
      t.like(second.output, [{ type: "message", content: [{ text: "It is sunny." }] }]);
      t.is(second.previous_response_id, null);
      const again = [
        ...input,
        { type: "item_reference", id: second.output[0]?.id },
        { role: "user", content: "Thanks" },
      ];
      await client.create({ model, input: again, tools, stream });
      const [, , last = ""] = seen(mark);
      for (const part of [mark, "Let me look.", "22 degrees", "It is sunny.", "Thanks"]) {
        t.is(last.split(part).length - 1, 1, part);
      }
      t.is(last.includes(seal), model !== "chat/model");
    });
  }
}

const refused = (param: string, code: string | null) => ({
  error: { type: "invalid_request_error", param, code },
});

test("another key's response and an unknown one are refused alike", async (t) => {
  const owner = await newClient();
  const other = await newClient();
  const model = "chat/model";
  const { id, output } = await owner.create({ model, input: "Mine" });
  const unknown = `resp_${"0".repeat(26)}`;
  for (const each of [id, unknown, "resp_of_openai"]) {
    const followUp = await other.call("POST", "", { model, input: "Hi", previous_response_id: each });
    t.is(followUp.status, 400);
    const error = refused("previous_response_id", "previous_response_not_found");
    t.like(JSON.parse(followUp.text), error);
    t.true(followUp.text.includes(`Previous response with id '${each}' not found.`));
    for (const [method, path] of [
      ["GET", each],
      ["GET", `${each}/input_items`],
      ["DELETE", each],
    ] as const) {
      const { status, text } = await other.call(method, `/${path}`);
      t.is(status, 404, method);
      t.like(JSON.parse(text), { error: { type: "invalid_request_error", param: null, code: null } });
      t.true(text.includes(`Response with id '${each}' not found.`));
    }
  }
  const input = [{ type: "item_reference", id: output[0]?.id }];
  const reference = await other.call("POST", "", { model, input });
  t.is(reference.status, 404);
  t.like(JSON.parse(reference.text), refused("input", null));
  t.is((await owner.call("GET", `/${id}`)).status, 200, "the owner still has it");
});

test("a kept response is read and deleted, with the pages of its input", async (t) => {
  const client = await newClient();
  const input = ["One", "Two", "Three"].map((content) => ({ role: "user", content }));
  const created = await client.create({ model: "chat/model", input });
  const read = await client.call("GET", `/${created.id}`);
  t.deepEqual(JSON.parse(read.text), created);

  type Page = { data: { id: string; content: { text: string }[] }[]; has_more: boolean; last_id: string };
  const page = async (query: string) => {
    const { status, text } = await client.call("GET", `/${created.id}/input_items${query}`);
    return { status, ...(JSON.parse(text) as Page) };
  };
  const texts = ({ data }: Page) => data.map(({ content }) => content[0]?.text);
  const newest = await page("");
  t.like(newest, { object: "list", has_more: false });
  t.deepEqual(texts(newest), ["Three", "Two", "One"]);
  const first = await page("?order=asc&limit=2");
  t.like(first, { has_more: true, last_id: first.data[1]?.id });
  t.deepEqual(texts(first), ["One", "Two"]);
  const rest = await page(`?order=asc&limit=2&after=${first.last_id}`);
  t.deepEqual(texts(rest), ["Three"]);
  t.false(rest.has_more);
  for (const query of ["?limit=0", "?limit=101", "?order=up", "?after=msg_1"])
    t.is((await page(query)).status, 400);
  const reference = { type: "item_reference", id: first.last_id };
  await client.create({ model: "chat/model", input: [reference, { role: "user", content: "Input again" }] });
  t.regex(seen("Input again")[0] ?? "", /Two/);

  const deleted = await client.call("DELETE", `/${created.id}`);
  t.deepEqual(JSON.parse(deleted.text), { id: created.id, object: "response", deleted: true });
  t.is((await client.call("GET", `/${created.id}`)).status, 404);
  t.is((await client.call("DELETE", `/${created.id}`)).status, 404);
});

test("a request with store: false keeps nothing", async (t) => {
  const client = await newClient();
  for (const stream of [false, true]) {
    const response = await client.create({ model: "chat/model", input: "Hi", store: false, stream });
    t.false(response.store);
    t.is((await client.call("GET", `/${response.id}`)).status, 404);
  }
});

test("a deactivated key loses its kept responses", async (t) => {
  const key = await createKey(gateway, models);
  const client = responsesClient(gateway, key.value);
  const { id } = await client.create({ model: "chat/model", input: "Hi" });
  await gateway.admin.keys.rename.mutate({ id: key.id, name: "Renamed" });
  t.is((await client.call("GET", `/${id}`)).status, 200, "other changes keep them");
  await gateway.admin.keys.deactivate.mutate({ id: key.id });
  await gateway.admin.keys.activate.mutate({ id: key.id });
  t.is((await client.call("GET", `/${id}`)).status, 404);
});

test("a native upstream gets kept items, and unchanged ids of its own", async (t) => {
  const native = await createUpstream(t, (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(responses.answer("gpt"));
  });
  await connectUpstream(gateway, native, { name: "openai", preset: "openai" });
  const { value } = await createKey(gateway, ["claude/model", "openai/model"]);
  const client = responsesClient(gateway, value);
  const first = await client.create({ model: "claude/model", input: "First on Claude", tools });
  const model = "openai/model";
  const input = [weatherResultOf(first)];
  await client.create({ model, input, previous_response_id: first.id });
  const sent = JSON.parse(native.requests[0]?.body ?? "") as { input: { type?: string }[] };
  t.false("previous_response_id" in sent);
  // Only Claude can read its reasoning, so the native upstream does not receive it.
  t.deepEqual(
    sent.input.map(({ type }) => type),
    [undefined, "message", "function_call", "function_call_output"],
  );
  const body = {
    model,
    input: [{ type: "item_reference", id: "msg_68ab" }],
    previous_response_id: "resp_68ab",
  };
  await client.create(body);
  t.deepEqual(JSON.parse(native.requests[1]?.body ?? ""), { ...body, model: "upstream-model" });
});

test("OpenAI's SDK continues, reads, lists and deletes responses", async (t) => {
  const { value } = await createKey(gateway, models);
  const { responses } = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: value, maxRetries: 0 });
  for (const model of models) {
    const tools = [{ ...weatherTool, type: "function" as const, strict: false }];
    const first = await responses.create({ model, input: "The weather in Paris?", tools });
    const call = first.output.find((item) => item.type === "function_call");
    const result = {
      type: "function_call_output" as const,
      call_id: call?.call_id ?? "",
      output: "22 degrees",
    };
    const second = await responses.create({ model, previous_response_id: first.id, input: [result], tools });
    t.is(second.output_text, "It is sunny.");
    const stream = responses.stream({ model, previous_response_id: second.id, input: "Sure?" });
    const third = await stream.finalResponse();
    t.is(third.previous_response_id, second.id);

    const read = await responses.retrieve(third.id);
    t.is(read.output_text, "It is sunny.");
    const types: string[] = [];
    for await (const item of responses.inputItems.list(third.id, { order: "asc", limit: 2 }))
      types.push(item.type);
    t.deepEqual(
      types.filter((type) => type !== "reasoning"),
      ["message", "message", "function_call", "function_call_output", "message", "message"],
    );
    await responses.delete(third.id);
    const { status, code } = await t.throwsAsync(responses.retrieve(third.id), {
      instanceOf: OpenAI.NotFoundError,
    });
    t.deepEqual([status, code], [404, null]);
    const late = responses.create({ model, previous_response_id: third.id, input: "Sure?" });
    await t.throwsAsync(late, {
      instanceOf: OpenAI.BadRequestError,
      message: /Previous response with id .* not found/,
    });
  }
});
