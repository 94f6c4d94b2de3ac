import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { NativeStream } from "../../../gateway/completions/stream-relay.ts";
import { countTextTokens, countTokens } from "../../../gateway/dialects/messages/count-tokens.ts";
import { formatModel, formatModelList, messages } from "../../../gateway/dialects/messages/messages.ts";
import { MessageEvents } from "../../../gateway/dialects/messages/native-messages.ts";
import {
  readCountRequest,
  readMessagesRequest,
} from "../../../gateway/dialects/messages/read-messages-request.ts";
import { GatewayError } from "../../../gateway/errors.ts";
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

const count = async (body: Record<string, unknown>) => (await countTokens({ body })).input_tokens;
const hi = [{ role: "user", content: "hello world" }];

test("counting covers text, three tokens a message, and tools with their preamble", async (t) => {
  t.is(await count({ messages: hi }), 3 + 2);
  t.is(await count({ messages: hi, system: [{ type: "text", text: "hello world" }] }), 3 + 2 + 2);
  t.is(
    await count({
      messages: [
        {
          role: "user",
          content: [{ type: "tool_result", content: [{ type: "text", text: "hello world" }] }],
        },
      ],
    }),
    3 + 2,
  );
  t.is(
    await count({
      messages: [
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hello world" },
            { type: "tool_use", name: "hello", input: {} },
          ],
        },
      ],
    }),
    3 + 1 + 1,
  );
  const tool = { name: "hello", description: "hello world", input_schema: { type: "object" } };
  t.true((await count({ messages: hi, tools: [tool] })) > 500 + 5 + 3);
});

test("images and documents are counted by their kind", async (t) => {
  const counted = (block: object) => count({ messages: [{ role: "user", content: [block] }] });
  t.is(await counted({ type: "image", source: { type: "base64", data: "A".repeat(1_000_000) } }), 3 + 1_600);
  t.is(
    await counted({ type: "document", source: { type: "base64", data: "A".repeat(200_000) } }),
    3 + 3 * 2_250,
  );
  t.is(await counted({ type: "document", source: { type: "url", url: "https://example.com" } }), 3 + 2_250);
  t.is(
    await counted({ type: "document", title: "hello", source: { type: "text", data: "hello world" } }),
    3 + 1 + 2,
  );
});

test("an empty request has no tokens", async (t) => {
  t.is(await count({}), 0);
  t.is(await countTextTokens([]), 0);
  t.is(await countTextTokens([""]), 0);
});

test("text that looks like a control token counts as text", async (t) => {
  t.true((await countTextTokens(["<|endoftext|>"])) > 1);
});

const prose =
  "The gateway forwards each request to one of several providers, and writes down what was used. ".repeat(
    200,
  );

test("slicing hardly changes the count", async (t) => {
  const { countTokens: exact } = await import("gpt-tokenizer/encoding/o200k_base");
  const tokens = await countTextTokens([prose]);
  t.true(Math.abs(tokens / exact(prose) - 1) < 0.01, `${tokens}`);
});

test("samples are enough for a long text", async (t) => {
  const { countTokens: exact } = await import("gpt-tokenizer/encoding/o200k_base");
  const texts = [prose.repeat(40), "a b c d e f g h ".repeat(20_000), "x".repeat(100), prose];
  const tokens = await countTextTokens(texts);
  const expected = texts.reduce((sum, text) => sum + exact(text), 0);
  t.true(Math.abs(tokens / expected - 1) < 0.05, `${tokens} of ${expected}`);
});

/** Counts turns of the event loop, because their number does not depend on the machine's speed. */
test("counting megabytes of the worst text does not block others", async (t) => {
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
  })();
  const letters = Array.from({ length: 4_000_000 }, (_, at) =>
    String.fromCharCode(0x4e00 + ((at * 7_919) % 20_000)),
  );
  await countTextTokens([letters.join("")]);
  isOver = true;
  await others;
  t.true(turns > 50, `${turns} turns`);
});

const models = Array.from({ length: 45 }, (_, index) => ({
  slug: `demo/model-${index + 1}`,
  createdAt: new Date(Date.UTC(2026, 10, 21, 9, 23)),
}));
const idsOf = (query: Record<string, unknown>) =>
  formatModelList(models, query).data.map(({ id }) => Number(id.slice(11)));

test("a model is returned in Anthropic's form", (t) => {
  t.deepEqual(formatModel({ slug: "anthropic/claude", createdAt: new Date(0) }), {
    type: "model",
    id: "anthropic/claude",
    display_name: "anthropic/claude",
    created_at: "1970-01-01T00:00:00.000Z",
  });
});

test("the first page has 20 models by default", (t) => {
  const { data, ...rest } = formatModelList(models, {});
  t.is(data.length, 20);
  t.deepEqual(rest, { has_more: true, first_id: "demo/model-1", last_id: "demo/model-20" });
  t.is(formatModelList(models, { limit: "1000", beta: "true" }).data.length, 45);
});

test("pages are read forwards and backwards", (t) => {
  const seen: string[] = [];
  let query: Record<string, string> = { limit: "7" };
  for (;;) {
    const page = formatModelList(models, query);
    seen.push(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    query = { limit: "7", after_id: String(page.last_id) };
  }
  t.deepEqual(
    seen,
    models.map(({ slug }) => slug),
  );
  t.deepEqual(idsOf({ limit: "3", before_id: "demo/model-10" }), [7, 8, 9]);
  t.deepEqual(idsOf({ limit: "3", before_id: "demo/model-3" }), [1, 2]);
  t.true(formatModelList(models, { limit: "3", before_id: "demo/model-10" }).has_more);
  t.false(formatModelList(models, { limit: "3", before_id: "demo/model-4" }).has_more);
});

test("a last page and an empty list have no next page", (t) => {
  const none = { data: [], has_more: false, first_id: null, last_id: null };
  t.deepEqual(formatModelList(models, { after_id: "demo/model-45" }), none);
  t.deepEqual(formatModelList(models, { before_id: "demo/model-1" }), none);
  t.deepEqual(formatModelList([], {}), none);
});

for (const query of [
  { limit: "0" },
  { limit: "1001" },
  { limit: "many" },
  { limit: "-1" },
  { limit: ["1", "2"] },
  { after_id: "demo/other" },
  { after_id: { x: "y" } },
  { after_id: "demo/model-1", before_id: "demo/model-3" },
]) {
  test(`the query ${JSON.stringify(query)} is rejected`, (t) => {
    const error = t.throws(() => formatModelList(models, query), { instanceOf: GatewayError });
    t.true(error?.param !== null && error.param in query);
  });
}
