import test from "ava";
import { describeFacts } from "../../console/src/lib/format/model-facts.ts";
import { formatDollars, formatDuration } from "../../console/src/lib/format/numbers.ts";
import { axisTicks } from "../../console/src/lib/usage/axis-ticks.ts";
import { barPaths } from "../../console/src/lib/usage/bar-paths.ts";
import { toChart } from "../../console/src/lib/usage/chart-series.ts";
import type { UsageDimension, UsageSummaryRow } from "../../console/src/lib/usage/summarize-usage.ts";

const nothing = {
  interval: null,
  apiKeyId: null,
  apiKeyName: null,
  model: null,
  provider: null,
  status: null,
};
const unused = { inputTokens: "0", outputTokens: "0", costUsd: null, unknownCosts: 0 };

function colorsOf(known: string[], used: Record<string, number>, dimension: UsageDimension = "MODEL") {
  const field = dimension === "MODEL" ? "model" : "status";
  const rows = Object.entries(used).map(
    ([name, requests]) => ({ ...nothing, ...unused, [field]: name, requests }) as UsageSummaryRow,
  );
  const { series } = toChart(rows, { dimension, metric: "requests", intervals: [], known });
  return Object.fromEntries(series.map(({ label, color }) => [label, color]));
}

const models = Array.from({ length: 7 }, (_, place) => `many/model-${place}`);

test("a model has the same color in every chart, whatever else is in it", (t) => {
  const all = colorsOf(models, Object.fromEntries(models.map((name, place) => [name, place + 1])));
  t.is(new Set(Object.values(all)).size, models.length, "and none has another's");
  for (const [place, name] of models.entries()) {
    const neighbour = models[(place + 3) % models.length] ?? "";
    t.like(all, colorsOf(models, { [name]: 5, [neighbour]: 9 }));
    t.like(all, colorsOf([...models, "many/new"], { [name]: 9 }), "one more model changes nothing");
  }
});

test("no two series of a chart share a color, including deleted models", (t) => {
  const known = Array.from({ length: 40 }, (_, place) => `many/model-${place}`);
  const used = {
    "many/model-7": 9,
    "many/model-0": 8,
    "many/model-14": 7,
    "gone/gone": 10,
    "many/model-1": 1,
  };
  const chosen = colorsOf(known, used);
  t.is(new Set(Object.values(chosen)).size, 5);
  t.is(
    chosen["many/model-7"],
    colorsOf(known, { "many/model-7": 1 })["many/model-7"],
    "the larger keeps its own",
  );
  t.is(chosen["many/model-1"], colorsOf(known, { "many/model-1": 1 })["many/model-1"]);
  const many = colorsOf(known, Object.fromEntries(known.map((name, place) => [name, place])));
  t.is(Object.keys(many).length, 8);
  t.is(new Set(Object.values(many)).size, 8);
  t.true("33 others" in many);
});

test("a status has its own color, and a model of that name has a model's", (t) => {
  const statuses = { SUCCEEDED: 1, FAILED: 2, CANCELLED: 3, INTERRUPTED: 4 };
  const all = colorsOf([], statuses, "STATUS");
  t.is(new Set(Object.values(all)).size, 4);
  for (const status of Object.keys(statuses)) t.like(all, colorsOf([], { [status]: 1 }, "STATUS"));
  t.not(colorsOf(["FAILED"], { FAILED: 1 })["FAILED"], all["Failed"]);
});

test("stacked bars are one path per series, rounded at the top of each stack", (t) => {
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour));
  const points = [
    { at: at(0), one: 10, two: 20 },
    { at: at(1), one: 5, two: 0 },
  ];
  const scales = {
    left: (time: Date) => time.getUTCHours() * 30,
    width: 20,
    height: (value: number) => 100 - value,
  };
  const [one, two] = barPaths(points, [{ key: "one" }, { key: "two" }], scales);
  const square = "M0 100V90a0 0 0 0 1 0 0h20a0 0 0 0 1 0 0V100z";
  t.is(one, `${square}M30 100V99a4 4 0 0 1 4 -4h12a4 4 0 0 1 4 4V100z`);
  t.is(two, "M0 90V74a4 4 0 0 1 4 -4h12a4 4 0 0 1 4 4V90z");
});

test("an axis has a few round values, up to at least the largest", (t) => {
  t.deepEqual(axisTicks(668, { isWhole: true }), [0, 200, 400, 600, 800]);
  t.deepEqual(axisTicks(1.8, { isWhole: false }), [0, 0.5, 1, 1.5, 2]);
  t.deepEqual(axisTicks(2, { isWhole: true }), [0, 1, 2]);
  t.deepEqual(axisTicks(0, { isWhole: false }), [0, 1]);
  for (const largest of [1e-9, 0.003, 0.7, 1, 7, 99, 12_345, 9e15]) {
    const ticks = axisTicks(largest, { isWhole: false });
    t.true(ticks.length >= 3 && ticks.length <= 6, `${largest}: ${ticks.join(" ")}`);
    t.true((ticks.at(-1) ?? 0) >= largest, `${largest}: ${ticks.join(" ")}`);
  }
});

for (const [milliseconds, text] of [
  [0, "0 ms"],
  [999.4, "999 ms"],
  [999.5, "1.0 s"],
  [59_949, "59.9 s"],
  [59_960, "1 min 0 s"],
  [119_600, "2 min 0 s"],
  [125_000, "2 min 5 s"],
  [3_599_900, "60 min 0 s"],
] as const) {
  test(`${milliseconds} ms are ${text}`, (t) => t.is(formatDuration(milliseconds), text));
}

for (const [dollars, text] of [
  [0, "$0.00"],
  [0.000_000_16, "$0.00000016"],
  [0.000_012_3, "$0.000012"],
  [0.012_34, "$0.0123"],
  [1_234.567, "$1,234.57"],
] as const) {
  test(`a cost of ${dollars} dollars is ${text}`, (t) => t.is(formatDollars(dollars), text));
}

test("a price is shown in full precision", (t) => {
  const facts = { contextWindow: null, prices: { input: 1.375, output: 0.018_75 } };
  t.is(describeFacts(facts), "context unknown · $1.375 in · $0.01875 out");
});
