import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { NativeStream } from "../../../gateway/completions/stream-relay.ts";
import { countTokens } from "../../../gateway/dialects/messages/count-tokens.ts";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { MessageEvents } from "../../../gateway/dialects/messages/native-messages.ts";
import {
  readCountRequest,
  readMessagesRequest,
} from "../../../gateway/dialects/messages/read-messages-request.ts";
import type { ChatAnswer } from "../../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";
import { envelope, readEvents, requestFrom, viaJson, writeStream } from "./messages-dialect.ts";
import { putTogether } from "./put-together.ts";

type Fixture = {
  request: object;
  chatRequest?: unknown;
  chatAnswer?: ChatAnswer;
  answer?: unknown;
  chatChoices?: ChunkChoice[];
  chatUsage?: ChatUsage | null;
};

const folder = path.resolve(import.meta.dirname, "../../fixtures/dialects/messages");

for (const file of globSync("*.json", { cwd: folder }).toSorted()) {
  const fixture = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Fixture;
  const name = path.basename(file, ".json");
  const request = requestFrom(fixture.request);

  if (fixture.chatRequest !== undefined) {
    test(`${name}: the request is translated`, (t) => {
      t.deepEqual(viaJson(messages.toChatRequest(request)), fixture.chatRequest);
    });
  }
  if (fixture.chatAnswer !== undefined) {
    const { chatAnswer } = fixture;
    test(`${name}: the response is translated`, (t) => {
      t.deepEqual(viaJson(messages.formatAnswer(chatAnswer, envelope, request)), fixture.answer);
    });
  }
  if (fixture.chatChoices !== undefined) {
    const { chatChoices, chatUsage = null } = fixture;
    const events = writeStream(chatChoices, chatUsage, fixture.request);
    test(`${name}: the stream is translated`, (t) => {
      t.is(events, readFileSync(path.join(folder, `${name}.events.txt`), "utf8"));
    });
    if (fixture.answer !== undefined) {
      test(`${name}: the stream and the response have the same content`, (t) => {
        t.deepEqual(putTogether(readEvents(events)), fixture.answer);
      });
    }
  }
}

for (const file of globSync("*.native.txt", { cwd: folder }).toSorted()) {
  const bytes = readFileSync(path.join(folder, file));
  const name = path.basename(file, ".native.txt");
  const expected = readFileSync(path.join(folder, `${name}.native-relayed.txt`), "utf8");

  for (const size of [bytes.length, 7, 1]) {
    test(`${name}: Anthropic's own stream passes in pieces of ${size} bytes`, (t) => {
      const stream = new NativeStream({
        native: messages.native,
        request: requestFrom({}),
        slug: "anthropic/claude-sonnet-4.5",
        eventBytesMax: 65_536,
        secret: null,
      });
      let relayed = "";
      let usage: unknown = null;
      let ending: unknown = null;
      for (let at = 0; at < bytes.length; at += size) {
        t.is(ending, null);
        const piece = stream.push(bytes.subarray(at, at + size));
        relayed += typeof piece.bytes === "string" ? piece.bytes : piece.bytes.toString("latin1");
        ending = piece.ending;
        usage = piece.usage ?? usage;
      }
      t.is(Buffer.from(relayed, "latin1").toString("utf8"), expected);
      const usageFile = path.join(folder, `${name}.native-usage.json`);
      if (existsSync(usageFile)) {
        t.is(ending, "done");
        t.deepEqual(usage, JSON.parse(readFileSync(usageFile, "utf8")));
      } else t.true(ending instanceof Error);
    });
  }
}

/** Recorded requests and streams of coding tools. The repository does not contain them. */
const toolFolder = path.resolve(import.meta.dirname, "../../../../shared/fixtures/coding-tools");

type Sent = { url: string; body: Record<string, unknown> };

if (!existsSync(toolFolder)) {
  test("recorded requests of coding tools exist", (t) => {
    t.log("skipped: ../shared/fixtures/coding-tools is not here");
    t.pass();
  });
}

for (const file of globSync("*.json", { cwd: toolFolder }).toSorted()) {
  const sent = JSON.parse(readFileSync(path.join(toolFolder, file), "utf8")) as Sent;
  if (!sent.url?.startsWith("/v1/messages")) continue;
  // In the recordings, a placeholder replaces input schemas and cache markers.
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

for (const file of globSync("_sse-messages*.txt", { cwd: toolFolder })) {
  test(`${file} passes unchanged except for the slug`, (t) => {
    const text = readFileSync(path.join(toolFolder, file), "utf8");
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
