import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { countTokens } from "../../../gateway/dialects/messages/count-tokens.ts";
import { MessageEvents } from "../../../gateway/dialects/messages/native-messages.ts";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import {
  readCountRequest,
  readMessagesRequest,
} from "../../../gateway/dialects/messages/read-messages-request.ts";
import { readEvents, viaJson } from "./messages-dialect.ts";
import { putTogether } from "./put-together.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";

/** Requests of coding tools recorded in November 2026, with accepted responses. They are not part of the project. */
const folder = path.resolve(import.meta.dirname, "../../../../shared/fixtures/coding-tools");

type Sent = { url: string; body: Record<string, unknown> };

if (!existsSync(folder)) {
  test("recorded requests of coding tools exist", (t) => {
    t.log("skipped: ../shared/fixtures/coding-tools is not here");
    t.pass();
  });
}

for (const file of globSync("*.json", { cwd: folder }).toSorted()) {
  const sent = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Sent;
  if (!sent.url?.startsWith("/v1/messages")) continue;
  // Long parts were cut when the requests were recorded.
  const cut = /"(input_schema|cache_control)":"…\[trimmed\]"/g;
  const bytes = Buffer.from(JSON.stringify(sent.body).replaceAll(cut, '"$1":{}'));

  if (sent.url.includes("/count_tokens")) {
    test(`${path.basename(file, ".json")} is counted`, async (t) => {
      const { input_tokens: tokens } = await countTokens(readCountRequest(bytes, bodyLimits));
      t.true(tokens > 0 && tokens < bytes.length + 1000);
    });
    continue;
  }
  test(`${path.basename(file, ".json")} is translated`, (t) => {
    const request = readMessagesRequest(bytes, bodyLimits);
    const chat = viaJson(messages.toChatRequest(request)) as Record<string, unknown>;
    const text = JSON.stringify(chat);
    for (const word of [
      "x-anthropic-billing-header",
      "safeguards",
      "context_management",
      "defer_loading",
      "DeferredToolPlaceholder",
      "web_search_20250305",
      "device_id",
      "output_config",
      '"thinking"',
    ]) {
      t.false(text.includes(word), word);
    }
    const roles = (chat["messages"] as { role: string }[]).map(({ role }) => role);
    t.is(roles.lastIndexOf("system"), 0);
    t.not(roles.at(-1), "assistant");
    for (const [index, role] of roles.entries())
      if (role === "tool") t.regex(String(roles[index - 1]), /^(assistant|tool)$/);
    t.is(chat["model"], sent.body["model"]);
  });
}

for (const file of globSync("_sse-messages*.txt", { cwd: folder })) {
  test(`${file} passes unchanged except for the slug`, (t) => {
    const text = readFileSync(path.join(folder, file), "utf8");
    const reader = new MessageEvents("other/slug");
    const endings = readEvents(text).map((event) => {
      if (!reader.eventNames.has(event.type)) return null;
      const { data, ending } = reader.read({ name: event.type, data: JSON.stringify(event) });
      if (event.type === "message_start")
        t.is(data, JSON.stringify(event).replace("qwen/qwen3-coder", "other/slug"));
      else t.is(data, null);
      return ending;
    });
    t.deepEqual(
      endings.filter((ending) => ending !== null),
      ["done"],
    );
    t.is(endings.at(-1), "done");
    t.deepEqual(reader.usage, {
      inputTokens: 10,
      outputTokens: 5,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      reasoningTokens: null,
    });
    t.notThrows(() => putTogether(readEvents(text).filter(({ type }) => type !== "ping")));
  });
}
