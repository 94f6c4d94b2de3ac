import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import type { ChatAnswer } from "../../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { loadOpenAiSchemas } from "../../helpers/openai-schemas.ts";
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
