import test from "ava";
import { countTextTokens, countTokens } from "../../../gateway/dialects/messages/count-tokens.ts";

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
