import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { requestFrom } from "./read-events.ts";

/**
 * Recorded requests of coding tools with long texts cut. The project may not publish them, so the tests can
 * be skipped.
 */
const folder = path.resolve(import.meta.dirname, "../../../../shared/fixtures/coding-tools");
const files = existsSync(folder) ? globSync("*-responses-*.json", { cwd: folder }).toSorted() : [];
if (files.length === 0)
  test.skip("requests of coding tools: ../shared/fixtures/coding-tools is missing", () => {});

type Recorded = { body: { model: string; stream?: boolean; tools?: { type: string }[] } };

for (const file of files) {
  const text = readFileSync(path.join(folder, file), "utf8");
  // The schemas were cut and are texts now.
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
    const text = readFileSync(path.join(folder, "codex-responses-tool-round2.json"), "utf8");
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
