import test from "ava";
import { describeFacts } from "../../console/src/lib/format/model-facts.ts";
import { formatDollars, formatDuration } from "../../console/src/lib/format/numbers.ts";

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
