import { readFileSync } from "node:fs";
import test from "ava";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { envelope, readEvents, requestFrom, says, viaJson, writeStream } from "./messages-dialect.ts";

const file = new URL(
  "messages.d.ts",
  import.meta.resolve("@anthropic-ai/sdk/resources/messages/messages.mjs"),
);
const sdkTypes = readFileSync(file, "utf8").replaceAll(/\/\*.*?\*\//gs, "");

/** The members that an interface of Anthropic's SDK requires. */
function requiredOf(name: string): string[] {
  const [, body] = new RegExp(`\\binterface ${name} \\{(.*?)\\}`, "s").exec(sdkTypes) ?? [];
  if (body === undefined) throw new Error(`The SDK has no interface ${name}.`);
  return [...body.matchAll(/^\s+(\w+):/gm)].map(([, member = ""]) => member);
}

const detail = { type: "reasoning.text" as const, format: "unknown", index: 0, text: "Hm." };
const sealed = { type: "reasoning.encrypted" as const, format: "google-gemini-v1", index: 1, data: "abc" };
const answered = {
  content: "Hi",
  reasoning_details: [detail, sealed],
  tool_calls: [{ index: 0, id: "a", type: "function" as const, function: { name: "f", arguments: "{}" } }],
};
const usages = [
  null,
  { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  {
    prompt_tokens: 9,
    completion_tokens: 3,
    total_tokens: 12,
    prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 1 },
  },
];

type Members = Record<string, unknown>;

const blockTypes: Record<string, string> = {
  text: "TextBlock",
  tool_use: "ToolUseBlock",
  thinking: "ThinkingBlock",
  redacted_thinking: "RedactedThinkingBlock",
};

function* missingOf(value: unknown, name: string): Iterable<string> {
  for (const member of requiredOf(name)) {
    if ((value as Members)[member] === undefined) yield `${name}.${member}`;
  }
}

function* missingOfMessage(message: Members): Iterable<string> {
  yield* missingOf(message, "Message");
  yield* missingOf(message["usage"], "Usage");
  const cacheCreation = (message["usage"] as Members)["cache_creation"];
  if (cacheCreation !== null) yield* missingOf(cacheCreation, "CacheCreation");
  for (const block of message["content"] as Members[])
    yield* missingOf(block, blockTypes[String(block["type"])] ?? "");
}

for (const [index, usage] of usages.entries()) {
  test(`a message has every member that Anthropic always sends, usage ${index}`, (t) => {
    const choices = [{ index: 0, message: { role: "assistant", ...answered }, finish_reason: "tool_calls" }];
    const answer = { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage };
    const message = viaJson(messages.formatAnswer(answer as never, envelope, requestFrom({}))) as Members;
    t.deepEqual(
      (message["content"] as Members[]).map(({ type }) => type),
      ["thinking", "text", "redacted_thinking", "tool_use"],
    );
    t.deepEqual([...missingOfMessage(message)], []);
  });

  test(`a stream has every member that Anthropic always sends, usage ${index}`, (t) => {
    const events = readEvents(writeStream([says(answered), says({}, "tool_calls")], usage));
    const started = new Set<unknown>();
    for (const event of events) {
      if (event.type === "message_start") t.deepEqual([...missingOfMessage(event["message"] as Members)], []);
      if (event.type === "content_block_start") {
        const block = event["content_block"] as Members;
        started.add(block["type"]);
        t.deepEqual([...missingOf(block, blockTypes[String(block["type"])] ?? "")], []);
      }
      if (event.type === "message_delta") {
        t.deepEqual([...missingOf(event["delta"], "Delta")], []);
        t.deepEqual([...missingOf(event["usage"], "MessageDeltaUsage")], []);
      }
    }
    t.deepEqual([...started].toSorted(), Object.keys(blockTypes).toSorted());
  });
}
