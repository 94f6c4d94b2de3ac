import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import fc from "fast-check";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import type { ChatAnswer } from "../../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { anySize, bodyLimits } from "../../helpers/body-limits.ts";
import { cpuMsSince } from "../../helpers/cpu-ms-since.ts";
import { loadOpenAiSchemas } from "../../helpers/openai-schemas.ts";
import { anyOf } from "../../providers/hostile-json.ts";
import { chunk, piece } from "../chunks.ts";
import { envelopeFor, readEvents, requestFrom, writeStream } from "./read-events.ts";

type Fixture = {
  request: { model: string };
  chatRequest?: unknown;
  chatAnswer?: ChatAnswer;
  answer?: unknown;
  chatChoices?: ChunkChoice[];
  chatUsage?: ChatUsage | null;
};

const folder = path.resolve(import.meta.dirname, "../../fixtures/dialects/responses");
const schema = loadOpenAiSchemas();
const testWithSchema = schema === null ? test.skip : test;

for (const file of globSync("*.json", { cwd: folder }).toSorted()) {
  const fixture = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Fixture;
  const name = path.basename(file, ".json");
  const eventsFile = path.join(folder, `${name}.events.txt`);
  const request = requestFrom(fixture.request);

  test(`${name}: the request is translated`, (t) => {
    t.deepEqual(viaJson(responses.toChatRequest(request)), fixture.chatRequest);
  });

  if (fixture.chatAnswer !== undefined) {
    const answer = viaJson(responses.formatAnswer(fixture.chatAnswer, envelopeFor(request), request));
    test(`${name}: the response is translated`, (t) => {
      t.deepEqual(answer, fixture.answer);
    });
    testWithSchema(`${name}: the response matches OpenAI's schema`, (t) => {
      t.deepEqual(schema?.faultsOfAnswer(answer), []);
    });
  }
  if (existsSync(eventsFile)) {
    const events = writeStream(request, fixture.chatChoices ?? [], fixture.chatUsage ?? null);
    test(`${name}: the stream is translated`, (t) => {
      t.is(events, readFileSync(eventsFile, "utf8"));
    });
    testWithSchema(`${name}: the stream's events match OpenAI's schema`, (t) => {
      for (const event of readEvents(events)) t.deepEqual(schema?.faultsOfEvent(event), [], event.type);
    });
  }
}

/** Serialization drops undefined members. */
function viaJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Recorded requests of coding tools. The repository does not contain them. */
const toolFolder = path.resolve(import.meta.dirname, "../../../../shared/fixtures/coding-tools");
const files = existsSync(toolFolder) ? globSync("*-responses-*.json", { cwd: toolFolder }).toSorted() : [];
if (files.length === 0)
  test.skip("requests of coding tools: ../shared/fixtures/coding-tools is missing", () => {});

type Recorded = { body: { model: string; stream?: boolean; tools?: { type: string }[] } };

for (const file of files) {
  const text = readFileSync(path.join(toolFolder, file), "utf8");
  // In the recordings, a placeholder replaces the tools' schemas.
  const { body } = JSON.parse(text.replaceAll(/"parameters": "[^"]*"/g, '"parameters": {}')) as Recorded;

  test(`${file} becomes a chat completion`, (t) => {
    const request = requestFrom(body);
    const chat = responses.toChatRequest(request);
    t.is(request.stream, body.stream === true);
    t.true(chat.messages.every(({ content }) => typeof content === "string" || content === null));
    const tools = (chat["tools"] ?? []) as { type: string }[];
    const own = (body.tools ?? []).filter(({ type }) => type !== "web_search");
    t.true(tools.length >= Math.max(own.length, file.includes("lite") ? 10 : 0));
    t.true(tools.every(({ type }) => type === "function"));
    for (const name of ["store", "include", "prompt_cache_key", "client_metadata", "input", "instructions"]) {
      t.false(name in chat, name);
    }
  });
}

if (files.length > 0) {
  test("a Codex turn becomes one message with the call and one with its result", (t) => {
    const text = readFileSync(path.join(toolFolder, "codex-responses-tool-round2.json"), "utf8");
    const { body } = JSON.parse(text.replaceAll(/"parameters": "[^"]*"/g, '"parameters": {}')) as Recorded;
    const { messages } = responses.toChatRequest(requestFrom(body));
    t.deepEqual(
      messages.map(({ role }) => role),
      ["developer", "developer", "user", "user", "assistant", "tool"],
    );
    t.like(messages.at(-2), { tool_calls: [{ id: "call_x5zjj6dbz8e", function: { name: "exec_command" } }] });
    t.like(messages.at(-1), { tool_call_id: "call_x5zjj6dbz8e" });
  });
}

const words = anyOf(
  "message user assistant developer reasoning function_call function_call_output custom_tool_call tool_search_call tool_search_output local_shell_call shell_call shell_call_output apply_patch_call web_search_call input_text output_text refusal input_image input_file function custom namespace tool_search shell grammar lark auto required allowed_tools json_schema text client call_1 f __proto__ constructor toString",
);
const names = anyOf(
  "type role content text name namespace arguments input call_id output summary encrypted_content tools description parameters strict format syntax definition mode status action commands operation image_url detail file_data file_url refusal execution schema effort verbosity __proto__",
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof({ maxDepth: 5 }, words, words, fc.jsonValue(), tie("list"), tie("record"), tie("record")),
  list: fc.array(tie("json"), { maxLength: 4 }),
  record: fc.dictionary(names, tie("json"), { maxKeys: 7 }),
}));
const mostly = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 15, arbitrary }, { weight: 1, arbitrary: json });

const content = fc.oneof(
  fc.string(),
  fc.array(
    mostly(fc.record({ type: fc.constantFrom("input_text", "output_text", "text"), text: fc.string() })),
    { maxLength: 3 },
  ),
);
const item = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "assistant", "developer"), content: mostly(content) }),
  fc.record({
    type: words,
    call_id: words,
    name: words,
    arguments: mostly(words),
    input: words,
    output: mostly(content),
    tools: fc.constant([]),
  }),
  fc.record({
    type: fc.constant("reasoning"),
    summary: mostly(fc.constant([])),
    encrypted_content: mostly(fc.string()),
  }),
);
const tool = fc.oneof(
  fc.record({
    type: fc.constantFrom("function", "custom"),
    name: mostly(words),
    description: mostly(fc.string()),
  }),
  fc.record({
    type: fc.constantFrom("local_shell", "shell", "apply_patch", "tool_search"),
    execution: words,
    environment: json,
  }),
  fc.record({
    type: fc.constant("namespace"),
    name: words,
    tools: mostly(fc.constant([{ type: "function", name: "f" }])),
  }),
);
const format = fc.oneof(
  fc.constant({ type: "json_object" }),
  fc.record({
    type: fc.constant("json_schema"),
    name: words,
    schema: mostly(fc.constant({})),
    strict: mostly(fc.boolean()),
  }),
);
const bodies = fc.record(
  {
    model: fc.constant("a/b"),
    input: mostly(fc.oneof(fc.string(), fc.array(mostly(item), { maxLength: 4 }))),
    instructions: mostly(fc.string()),
    tools: mostly(fc.array(mostly(tool), { maxLength: 3 })),
    tool_choice: mostly(fc.oneof(fc.constantFrom("auto", "none"), fc.record({ type: words, name: words }))),
    text: mostly(fc.record({ format: mostly(format), verbosity: words })),
    reasoning: mostly(fc.record({ effort: fc.oneof(words, fc.constant("high")), summary: json })),
    metadata: mostly(fc.dictionary(fc.string(), json)),
    include: fc.array(fc.constantFrom("reasoning.encrypted_content", "message.output_text.logprobs", "x")),
    max_output_tokens: mostly(fc.integer({ min: 1 })),
    temperature: mostly(fc.integer({ min: 0, max: 2 })),
    user: mostly(fc.string()),
    background: mostly(fc.constant(false)),
  },
  { requiredKeys: ["model", "input"] },
);

const choices = [
  chunk({ content: "hi" }),
  piece(0, '{"input":"x"}', { id: "c0", name: "f" }),
  piece(1, '{"commands":["x"]}', { id: "c1", name: "shell" }),
  piece(2, '{"query":"x"}', { id: "c2", name: "tool_search" }),
  chunk({}, "tool_calls"),
];

test("any request becomes a chat completion or a GatewayError", (t) => {
  let translated = 0;
  fc.assert(
    fc.property(bodies, (body) => {
      try {
        const request = responses.readRequest(Buffer.from(JSON.stringify(body)), bodyLimits);
        const chat = responses.toChatRequest(request);
        translated++;
        t.true(chat.messages.length > 0);
        const events = readEvents(writeStream(request, choices));
        for (const event of events)
          t.deepEqual(schema?.faultsOfEvent(event) ?? [], [], JSON.stringify(event));
        t.notThrows(() =>
          responses.formatAnswer({ choices: [], usage: null }, envelopeFor(request), request),
        );
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        t.regex(error.message, /\.$/);
      }
    }),
    { numRuns: 3000 },
  );
  t.log(`${translated} of 3000 were translated`);
  t.true(translated > 100, `${translated} of 3000 were translated`);
});

test("any bytes become a request or a GatewayError", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      t.throws(() => responses.readRequest(Buffer.from(bytes), bodyLimits), { instanceOf: GatewayError });
    }),
  );
});

test("many tools and items take linear time", (t) => {
  const tools = Array.from({ length: 20_000 }, (_, index) => ({
    type: "namespace",
    name: `a${".-"[index % 2]}${String(index).replaceAll(/\d/g, (digit) => ".:;,!?#*+~"[Number(digit)] ?? "")}`,
    description: "",
    tools: [{ type: "function", name: "f" }],
  }));
  const input = Array.from({ length: 20_000 }, () => ({ role: "user", content: "x" }));
  const bytes = Buffer.from(JSON.stringify({ model: "a/b", input, tools }));
  const before = process.cpuUsage();
  const chat = responses.toChatRequest(responses.readRequest(bytes, anySize));
  const seconds = cpuMsSince(before) / 1000;
  t.is((chat["tools"] as { function: { name: string } }[]).length, 20_000);
  t.is(
    new Set((chat["tools"] as { function: { name: string } }[]).map((each) => each.function.name)).size,
    20_000,
  );
  t.true(seconds < 10, `${seconds} s`);
});
