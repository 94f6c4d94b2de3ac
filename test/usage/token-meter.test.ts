import { readFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { estimateInputTokens } from "../../gateway/usage/counting/estimate-input-tokens.ts";
import { chat } from "../../gateway/dialects/chat/chat.ts";
import { deltaNames } from "../../gateway/dialects/named-event-reader.ts";
import { answerNames, OutputMeter, TokenMeter } from "../../gateway/usage/counting/token-meter.ts";
import { matchingRules } from "../../gateway/usage/counting/price-sheet.ts";
import type { TokenUsage } from "../../gateway/wire/token-usage.ts";
import { type PriceComponent, priceComponents, type PriceRule } from "../../db/entities/price-details.ts";
import { costLines, priceRequest, type Prices, usageParts } from "../../gateway/usage/counting/cost.ts";

const project = path.join(import.meta.dirname, "../..");

function meter(text: string): number {
  const tokenMeter = new TokenMeter();
  tokenMeter.add(text);
  return tokenMeter.tokens;
}

const files = [
  "README.md",
  "package.json",
  "LICENSE",
  "gateway/dialects/chat/chunk-rewriter.ts",
  "test/helpers/database-server.sh",
];
for (const file of files) {
  test(`the tokens of ${file} are estimated within an eighth`, async (t) => {
    const text = await readFile(path.join(project, file), "utf8");
    const ratio = meter(text) / countTokens(text);
    t.log(`${file}: ${ratio.toFixed(2)} of what the tokenizer counts`);
    t.true(ratio > 0.875 && ratio < 1.125, `${ratio}`);
  });
}

const languages: Record<string, string> = {
  English:
    "The ferry leaves at seven, so there is time for a walk along the harbour, a coffee where the fishermen have theirs, and a look at the old lighthouse. It was built in 1871 by people who had never seen one.",
  German:
    "Die Fähre legt um sieben ab, es bleibt also Zeit für einen Spaziergang am Hafen, einen Kaffee bei den Fischern und einen Blick auf den alten Leuchtturm. Gebaut haben ihn 1871 Leute, die noch nie einen gesehen hatten.",
  French:
    "Le ferry part à sept heures, il reste donc du temps pour une promenade le long du port, un café là où les pêcheurs prennent le leur, et un regard sur le vieux phare. Il a été construit en 1871.",
  Spanish:
    "El ferry sale a las siete, así que hay tiempo para dar un paseo por el puerto, tomar un café donde lo toman los pescadores y echar un vistazo al viejo faro. Fue construido en 1871.",
  Polish:
    "Prom odpływa o siódmej, więc jest czas na spacer wzdłuż portu, kawę tam, gdzie piją ją rybacy, i rzut oka na starą latarnię morską. Zbudowali ją w 1871 roku ludzie, którzy nigdy żadnej nie widzieli.",
  Russian:
    "Паром отходит в семь, так что есть время прогуляться вдоль гавани, выпить кофе там, где его пьют рыбаки, и взглянуть на старый маяк. Его построили в 1871 году люди, которые никогда не видели маяка.",
  Chinese:
    "渡轮七点出发，所以还有时间沿着港口散步，在渔民常去的地方喝杯咖啡，再看一眼那座古老的灯塔。它建于1871年，建造它的人从未见过灯塔。",
  Japanese:
    "フェリーは七時に出るので、港沿いを散歩して、漁師たちが飲む場所でコーヒーを飲み、古い灯台を眺める時間がある。それは1871年に、灯台を一度も見たことのない人々によって建てられた。",
  Korean:
    "페리는 일곱 시에 출발하므로 항구를 따라 산책하고 어부들이 마시는 곳에서 커피를 마시고 오래된 등대를 볼 시간이 있다. 1871년에 등대를 본 적 없는 사람들이 지었다.",
  Arabic:
    "تغادر العبارة في السابعة، لذا هناك وقت للمشي على طول الميناء، وتناول القهوة حيث يشربها الصيادون، وإلقاء نظرة على المنارة القديمة. بناها عام 1871 أناس لم يروا منارة قط.",
  Hindi:
    "नौका सात बजे निकलती है, इसलिए बंदरगाह के किनारे टहलने, मछुआरों के साथ कॉफी पीने और पुराने प्रकाशस्तंभ को देखने का समय है।",
};
for (const [language, text] of Object.entries(languages)) {
  test(`the tokens of ${language} are estimated within a quarter`, (t) => {
    const ratio = meter(text) / countTokens(text);
    t.log(`${language}: ${ratio.toFixed(2)} of what the tokenizer counts`);
    t.true(ratio > 0.75 && ratio < 1.25, `${ratio}`);
  });
}

test("pieces of text count as the whole, and JSON counts its strings", (t) => {
  const whole = Object.values(languages).join('\n"quoted" \\ back\tslash 🎉 ');
  const inPieces = new TokenMeter();
  for (const piece of whole.match(/.{1,3}/gsu) ?? []) inPieces.add(piece);
  t.is(inPieces.tokens, meter(whole));

  const json = Buffer.from(`${JSON.stringify(whole)} and more`).toString("latin1");
  const inJson = new TokenMeter();
  t.is(json.slice(inJson.addJson(json, 1)), '" and more');
  t.true(Math.abs(inJson.tokens - meter(whole)) <= 3, `${inJson.tokens} instead of ${meter(whole)}`);

  const escaped = JSON.stringify(whole).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const inAscii = new TokenMeter();
  t.is(inAscii.addJson(escaped, 1), escaped.length - 1);
  t.is(inAscii.tokens, meter(whole), "as Python writes it");
});

test("JSON cut anywhere and arbitrary bytes are counted without errors", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.string(), (bytes, text) => {
      const tokenMeter = new TokenMeter();
      const all =
        Buffer.from(bytes).toString("latin1") + Buffer.from(JSON.stringify(text)).toString("latin1");
      for (let cut = 0; cut < all.length; cut++) {
        const end = tokenMeter.addJson(all.slice(0, cut), 0);
        if (end > cut) throw new Error(`It read on to ${end}`);
      }
      return tokenMeter.tokens >= 0;
    }),
  );
  t.pass();
});

function meterEvents(names: RegExp, events: object[]): number {
  const meter = new OutputMeter(names);
  const text = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")).toString(
    "latin1",
  );
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start) + 1;
    meter.read(text, start, end);
    start = end + 1;
  }
  return meter.tokens;
}

const words = "One two three, four “five” six: sieben über ächt".match(/\s?\S+/g) ?? [];

test("all text of a stream is counted, wherever it is, and nothing else", (t) => {
  const expected = meter(words.join(""));
  const chunk = (delta: object, more: object = {}) => ({
    id: "chatcmpl-1",
    choices: [{ index: 0, delta, ...more }],
    obfuscation: "aaaaaaaaa",
  });
  const inChunks = (name: string) => words.map((word) => chunk({ [name]: word }));
  for (const name of ["content", "reasoning_content", "reasoning", "refusal"]) {
    t.is(meterEvents(chat.native.outputNames(), inChunks(name)), expected, name);
  }
  const first = chunk({ role: "assistant", content: "" });
  const logprobs = { content: [{ token: "One", logprob: -0.1 }] };
  t.is(meterEvents(chat.native.outputNames(), [first, ...inChunks("content"), chunk({})]), expected);
  t.is(
    meterEvents(
      chat.native.outputNames(),
      words.map((word) => chunk({ content: word }, { logprobs })),
    ),
    expected,
  );
  const calls = words.map((word) => chunk({ tool_calls: [{ index: 0, function: { arguments: word } }] }));
  t.is(meterEvents(chat.native.outputNames(), calls), expected);
  t.is(
    meterEvents(chat.native.outputNames(), [...inChunks("reasoning_content"), ...inChunks("content")]),
    meter(words.join("") + words.join("")),
  );

  for (const delta of [{ type: "text_delta", text: "" }, { partial_json: "" }, { thinking: "" }]) {
    const name = Object.keys(delta).at(-1) ?? "";
    const events = words.map((word) => ({ type: "content_block_delta", delta: { ...delta, [name]: word } }));
    t.is(meterEvents(deltaNames(), events), expected, name);
  }
  const numbered = words.map((delta, index) => ({ sequence_number: index, delta }));
  t.is(meterEvents(deltaNames(), numbered), expected);

  const message = { role: "assistant", content: words.join(""), tool_calls: [] };
  t.is(meterEvents(answerNames(), [{ choices: [{ message }], usage: { prompt_tokens: 7 } }]), expected);
});

test("the tokens of a request are those that the model reads, in every dialect", (t) => {
  const text = languages["English"] ?? "";
  const tokens = countTokens(text);
  const near = (body: Record<string, unknown>, expected: number) => {
    const estimated = estimateInputTokens({ model: "some/model", temperature: 0.7, ...body });
    t.true(Math.abs(estimated / expected - 1) < 0.15, `${estimated} instead of ${expected}`);
  };
  near({ messages: [{ role: "user", content: text }] }, tokens);
  near({ system: text, messages: [{ role: "user", content: [{ type: "text", text }] }] }, 2 * tokens);
  near({ instructions: text, input: text }, 2 * tokens);
  near({ input: [text, text, text] }, 3 * tokens);
  near({ input: [Array.from({ length: 100 }, (_, index) => index)] }, 100);
  near({ messages: [{ role: "user", content: text.repeat(20_000) }] }, 20_000 * tokens);
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1_000_000)}` } };
  near({ messages: [{ role: "user", content: [{ type: "text", text }, image] }] }, 1_000 + tokens);
  const tool = { type: "function", function: { name: "look_up", description: text, parameters: {} } };
  near({ messages: [], tools: [tool] }, tokens + 25);
  t.is(estimateInputTokens({}), 0);
});

test("a very long text is sampled", (t) => {
  const [short, long] = [new TokenMeter(), new TokenMeter()];
  const line = "The quick brown fox jumps over the lazy dog, 13 times.\n";
  for (let count = 0; count < 20_000; count++) short.add(line);
  long.add(line.repeat(20_000));
  t.true(Math.abs(long.tokens / short.tokens - 1) < 0.01, `${long.tokens} of ${short.tokens}`);
});

const at = new Date("2026-11-24T12:00:00Z");
const count = fc.oneof(fc.nat(300), fc.nat(3_000_000));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const price = fc.oneof(fc.constant(0), fc.nat(1_000), fc.nat(200_000_000_000));
const usage: fc.Arbitrary<TokenUsage> = fc.record({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: fc.option(count),
  cacheWriteInputTokens: fc.option(count),
  reasoningTokens: fc.option(count),
  details: optional(
    fc.record(
      {
        cacheWrite1hTokens: count,
        imageInputTokens: count,
        cachedImageInputTokens: count,
        audioInputTokens: count,
        cachedAudioInputTokens: count,
        imageOutputTokens: count,
        audioOutputTokens: count,
        webSearches: fc.nat(20),
        serviceTier: fc.constantFrom("flex", "priority", "batch"),
        speed: fc.constant("fast"),
        region: fc.constant("us"),
      },
      { requiredKeys: [] },
    ),
  ),
});
const some = fc.dictionary(fc.constantFrom(...priceComponents), price) as fc.Arbitrary<
  Partial<Record<PriceComponent, number>>
>;
const rule: fc.Arbitrary<PriceRule> = fc.record(
  {
    when: fc.oneof(
      fc.record({ inputTokensAbove: count }),
      fc.record({ serviceTier: fc.constantFrom("flex", "priority") }),
      fc.record({ speed: fc.constant("fast") }),
      fc.record({ region: fc.constant("us"), from: fc.constant("2026-01-01") }),
      fc.record({ hours: fc.constant({ from: "11:00", to: "13:00" }) }),
    ),
    prices: some,
    factor: fc.nat(60_000).map((parts) => parts / 10_000),
    part: fc.constant("above" as const),
  },
  { requiredKeys: ["when"] },
);
const prices: fc.Arbitrary<Prices> = fc.record({
  inputPrice: price,
  cachedInputPrice: fc.option(price),
  cacheWritePrice: fc.option(price),
  outputPrice: price,
  priceDetails: fc.option(fc.record({ prices: some, rules: fc.array(rule, { maxLength: 5 }) })),
});

test("the amounts of the lines add up to the cost, and none is negative", (t) => {
  fc.assert(
    fc.property(prices, usage, (list, used) => {
      const { cost, lines } = priceRequest(list, used, at);
      if (cost === null || lines === null) return;
      t.true(lines.every(({ amount }) => amount !== null && amount >= 0));
      t.is(
        lines.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
        cost,
      );
      // The expected cost is the exact sum, rounded once.
      const exact = lines.reduce((sum, line) => sum + BigInt(line.quantity) * BigInt(line.price ?? 0), 0n);
      t.is(cost, Number((exact + 500_000n) / 1_000_000n));
    }),
    { numRuns: 3_000 },
  );
});

test("every token of the input and the output belongs to one part", (t) => {
  fc.assert(
    fc.property(usage, (used) => {
      const parts = usageParts(used) ?? [];
      const sum = parts.reduce((total, { component, quantity }) => {
        return component === "webSearch" || component === "request" ? total : total + quantity;
      }, 0);
      t.is(sum, (used.inputTokens ?? 0) + (used.outputTokens ?? 0));
      t.true(parts.every(({ quantity }) => quantity > 0));
    }),
    { numRuns: 3_000 },
  );
});

test("without conditions, the short computation and the lines agree", (t) => {
  const plain = fc.record({ list: prices, used: usage });
  fc.assert(
    fc.property(plain, ({ list, used }) => {
      const flat = { ...list, priceDetails: null };
      const counts = { ...used, details: undefined };
      const lines = costLines(
        usageParts(counts) ?? [],
        {
          input: flat.inputPrice,
          cachedInput: flat.cachedInputPrice,
          cacheWrite: flat.cacheWritePrice,
          output: flat.outputPrice,
        },
        [],
      );
      t.is(
        priceRequest(flat, counts, at).cost,
        lines.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
      );
    }),
    { numRuns: 3_000 },
  );
});

test("a part of a prompt above a threshold costs its price, the rest the usual one", (t) => {
  const list: Prices = {
    inputPrice: 1_000_000_000,
    cachedInputPrice: 100_000_000,
    cacheWritePrice: null,
    outputPrice: 5_000_000_000,
    priceDetails: {
      prices: {},
      rules: [{ when: { inputTokensAbove: 1_000 }, prices: { input: 3_000_000_000 }, part: "above" }],
    },
  };
  const used = {
    inputTokens: 1_500,
    outputTokens: 100,
    cachedInputTokens: 400,
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  };
  // The 400 cached tokens come first, then 600 tokens below the threshold, then 500 above it.
  t.is(priceRequest(list, used, at).cost, 400 * 100 + 600 * 1_000 + 500 * 3_000 + 100 * 5_000);
});

test("an image from the cache is not counted as image input again", (t) => {
  const used = { inputTokens: 100, cachedInputTokens: 40, outputTokens: 1, reasoningTokens: null };
  const details = { imageInputTokens: 50, cachedImageInputTokens: 30 };
  const parts = usageParts({ ...used, cacheWriteInputTokens: null, details });
  t.is(parts?.find(({ component }) => component === "imageInput")?.quantity, 20);
});

for (const [from, to, applies] of [
  ["11:00", "13:00", true],
  ["12:00", "08:00", true],
  ["20:00", "13:00", true],
  ["20:00", "12:00", false],
  ["12:30", "11:30", false],
] as const) {
  test(`at 12:00, prices from ${from} to ${to} ${applies ? "apply" : "do not apply"}`, (t) => {
    const rules = [{ when: { hours: { from, to } } }];
    const matching = matchingRules({ prices: {}, rules }, { inputTokens: 1, terms: undefined, at });
    t.deepEqual(matching, applies ? rules : []);
  });
}

const unknown: [what: string, details: TokenUsage["details"]][] = [
  ["a search", { webSearches: 1 }],
  ["audio", { audioInputTokens: 1 }],
  ["a generated image", { imageOutputTokens: 1 }],
  ["a premium tier", { serviceTier: "priority" }],
  ["a premium speed", { speed: "fast" }],
];
for (const [what, details] of unknown) {
  test(`${what} without a price makes the cost unknown`, (t) => {
    const list = { inputPrice: 1, cachedInputPrice: null, cacheWritePrice: null, outputPrice: 1 };
    const counts = { inputTokens: 10, outputTokens: 10, cachedInputTokens: null, reasoningTokens: null };
    t.is(priceRequest(list, { ...counts, cacheWriteInputTokens: null, details }, at).cost, null);
  });
}

test("a million costs lose nothing by rounding", (t) => {
  // At these prices, no token costs a whole number of nano-dollars.
  const list = {
    inputPrice: 3_625_000,
    cachedInputPrice: 2_800_000,
    cacheWritePrice: null,
    outputPrice: 870_001,
  };
  let exact = 0n;
  let sum = 0n;
  let seed = 7;
  const next = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
  for (let row = 0; row < 1_000_000; row++) {
    const [cached, fresh, output] = [next(1_000), next(1_000), next(500)];
    const used = { inputTokens: cached + fresh, outputTokens: output, cachedInputTokens: cached };
    const counts = { ...used, cacheWriteInputTokens: null, reasoningTokens: null };
    sum += BigInt(priceRequest(list, counts, at).cost ?? 0);
    exact += BigInt(fresh) * 3_625_000n + BigInt(cached) * 2_800_000n + BigInt(output) * 870_001n;
  }
  // Each row is exact to half a nano-dollar, and all rows together to a hundred-thousandth of a dollar.
  const difference = Number(sum * 1_000_000n - exact) / 1_000_000;
  t.true(Math.abs(difference) < 10_000, `${difference} nano-dollars`);
});
