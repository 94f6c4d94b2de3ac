import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { describeFacts } from "../../console/src/lib/format/model-facts.ts";
import { formatDollars, formatDuration } from "../../console/src/lib/format/numbers.ts";
import { isEndOfDay } from "../../console/src/lib/keys/expiry.ts";
import { fieldOf, findProblems } from "../../console/src/lib/limits/limit-problems.ts";
import { phasesOf } from "../../console/src/lib/requests/request-phases.ts";
import { containsSecret } from "../../console/src/lib/secret-text.ts";
import { destinationOf } from "../../console/src/lib/session/destination.ts";
import { axisTicks } from "../../console/src/lib/usage/axis-ticks.ts";
import { barPaths } from "../../console/src/lib/usage/bar-paths.ts";
import { toChart } from "../../console/src/lib/usage/chart-series.ts";
import { findProblem } from "../../console/src/lib/usage/custom-period.ts";
import { sortRows } from "../../console/src/lib/ui/columns.ts";
import type { AttemptTiming } from "../../console/src/lib/usage/usage-record.ts";
import type { UsageDimension } from "../../console/src/lib/session/graphql-document.ts";
import type { UsageSummaryRow } from "../../console/src/lib/usage/summarize-usage.ts";

const source = join(import.meta.dirname, "../../console/src");

function filesWith(pattern: RegExp): string[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:ts|svelte)$/.test(file))
    .filter((file) => pattern.test(readFileSync(join(source, file), "utf8")));
}

test("no component renders a text as HTML", (t) => {
  t.deepEqual(filesWith(/\{@html|\b(?:inner|outer)HTML\s*=|insertAdjacentHTML/), []);
});

test("only one module changes URL parameters, and no module uses the history directly", (t) => {
  const direct =
    /\bhistory\.(?:push|replace)State|\b(?:push|replace)State\(|location\.(?:href|search) ?=[^=]/;
  t.deepEqual(filesWith(direct), []);
  t.deepEqual(filesWith(/url\.searchParams\.(?:set|append)/), ["lib/url-state.ts"]);
  t.deepEqual(filesWith(/if \(value && !containsSecret\(value\)\) url\.searchParams\.set/), [
    "lib/url-state.ts",
  ]);
  t.true(filesWith(/beforeNavigate\(.*\n.*containsSecret/).includes("routes/+layout.svelte"));
});

const secret = `gateway-${"0aZ".repeat(15)}`;
for (const text of [`sk-${secret}`, ` at-${secret} `, `KEY=sk-${secret} and more`, "SK-gateway-0a"])
  test(`a text with a secret is not for a URL: ${text}`, (t) => t.true(containsSecret(text)));

test("an ordinary search may be in a URL", (t) => t.false(containsSecret("the gateway of sk-1")));

for (const [order, names] of [
  ["count", ["many", "few", "unknown"]],
  ["-count", ["unknown", "few", "many"]],
  ["name", ["few", "many", "unknown"]],
  ["-name", ["unknown", "many", "few"]],
  ["nothing", ["unknown", "many", "few"]],
] as const)
  test(`rows in the order "${order}" are ${names.join(", ")}`, (t) => {
    const rows = [
      { name: "unknown", count: null },
      { name: "many", count: 10 },
      { name: "few", count: 9 },
    ];
    const columns = [
      { sort: { name: "name", by: ({ name }: (typeof rows)[number]) => name } },
      { sort: { name: "count", by: ({ count }: (typeof rows)[number]) => count } },
      {},
    ];
    t.deepEqual(
      sortRows(rows, columns, order).map(({ name }) => name),
      [...names],
    );
  });

for (const [to, destination] of [
  ["/keys?status=active", "/keys?status=active"],
  ["//example.com/x", "/"],
  ["/.//example.com/x", "/"],
  ["http://", "/"],
  ["https://example.com/keys", "/"],
  [null, "/"],
] as const)
  test(`a sign-in leads from ${to} to ${destination}`, (t) => {
    t.is(destinationOf(to, new URL("http://localhost:3000/sign-in")), destination);
  });

for (const [from, to, message] of [
  ["2026-01-12", "2026-01-10", "The end 2026-01-10 is not after the start. Choose a later end."],
  ["2020-01-01", "2023-01-01", "The period is longer than 3 years. Choose a shorter period."],
  ["2999-01-01", "2999-01-02", "The start date 2999-01-01 is in the future. Choose an earlier date."],
  ["2026-02-30", "2026-03-01", "The start date is missing or invalid. Choose a date."],
  ["2026-01-10", "tomorrow", "The end date is missing or invalid. Choose a date."],
  ["2020-01-02", "2023-01-01", undefined],
] as const)
  test(`a period from ${from} to ${to} is ${message ? "refused" : "shown"}`, (t) => {
    t.is(findProblem({ from, to }, Date.UTC(2026, 10, 27), "utc")?.message, message);
  });

const none = {
  requestsPerMinute: "",
  tokensPerMinute: "",
  concurrentRequests: "",
  day: "",
  week: "",
  month: "",
  total: "",
  addressRanges: "",
};

test("every invalid limit is reported at its field, at once", (t) => {
  const texts = {
    ...none,
    requestsPerMinute: "1.5",
    day: "1,5",
    addressRanges: "127.0.0.1\n10.0.0/8\n::1/129",
  };
  const problems = findProblems({ texts, lastDay: "2020-01-31", isNewDay: true, now: Date.UTC(2026, 1) });
  t.deepEqual(Object.keys(problems).toSorted(), ["addressRanges", "day", "expiresAt", "requestsPerMinute"]);
  t.regex(problems.addressRanges ?? "", /^10\.0\.0\/8, ::1\/129 are not IP addresses/);
  t.is(fieldOf("limits.addressRanges.0"), "addressRanges");
});

test("valid limits and an unchanged past expiry have no problems", (t) => {
  const texts = {
    ...none,
    requestsPerMinute: "1,000",
    day: "1.5",
    addressRanges: "10.0.0.0/8\n2001:db8::/32",
  };
  t.deepEqual(findProblems({ texts, lastDay: "2020-01-31", isNewDay: false, now: Date.UTC(2026, 1) }), {});
});

test("only the end of a day is shown as a day", (t) => {
  const end = new Date(2027, 0, 31, 23, 59, 59).getTime();
  t.true(isEndOfDay(end));
  t.false(isEndOfDay(end - 53 * 60_000));
});

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

const times = { latencyMs: 1_000, timeToFirstTokenMs: 600, status: "SUCCEEDED", errorReason: null } as const;

const attempt = (startMs: number, durationMs: number, failure: AttemptTiming["failure"] = null) => ({
  provider: "test",
  model: "model",
  startMs,
  durationMs,
  failure,
});

function linesOf(record: Parameters<typeof phasesOf>[0]): string[] {
  return phasesOf(record).map(({ label, startMs, durationMs }) => `${label} ${startMs}+${durationMs}`);
}

test("a request without times of its attempts has two phases", (t) => {
  t.deepEqual(linesOf({ ...times, attempts: 2, timing: null }), [
    "Time to first token 0+600",
    "Output 600+400",
  ]);
});

test("a request without output has one phase", (t) => {
  t.deepEqual(linesOf({ ...times, timeToFirstTokenMs: null, attempts: 0, timing: null }), ["Total 0+1000"]);
});

test("a queued request has its upload and its queue", (t) => {
  const timing = { receivedMs: 20, attempts: [attempt(300, 700)] };
  t.deepEqual(linesOf({ ...times, attempts: 1, timing }), [
    "Upload 0+20",
    "Queue 20+280",
    "Time to first token 300+300",
    "Output 600+400",
  ]);
});

test("failed attempts and the wait after them have their own phases", (t) => {
  const failed = [attempt(1, 99, "http_429"), attempt(300, 50, "connection_refused")];
  const timing = { receivedMs: 1, attempts: [...failed, attempt(350, 650)] };
  t.deepEqual(linesOf({ ...times, attempts: 3, timing }), [
    "Attempt 1: HTTP 429 1+99",
    "Wait before retry 100+200",
    "Attempt 2: connection refused 300+50",
    "Attempt 3: time to first token 350+250",
    "Output 600+400",
  ]);
});

test("the time after the last stored attempt belongs to later ones", (t) => {
  const timing = { receivedMs: 0, attempts: [attempt(0, 100, "http_503")] };
  t.deepEqual(linesOf({ ...times, attempts: 20, timing }), [
    "Attempt 1: HTTP 503 0+100",
    "Later attempts 100+900",
  ]);
});

test("a failed request marks its last attempt as failed, with the reason", (t) => {
  const timing = { receivedMs: 1, attempts: [attempt(1, 99, "http_429"), attempt(300, 700)] };
  const failed = {
    ...times,
    timeToFirstTokenMs: null,
    status: "FAILED",
    errorReason: "first_byte_timeout",
  } as const;
  const phases = phasesOf({ ...failed, attempts: 2, timing });
  t.deepEqual(
    phases.map(({ kind, label }) => `${kind} ${label}`),
    ["failed Attempt 1: HTTP 429", "wait Wait before retry", "failed Attempt 2: first-byte timeout"],
  );
  const [only] = phasesOf({ ...failed, attempts: 1, timing: null });
  t.is(only?.kind, "failed");
});
