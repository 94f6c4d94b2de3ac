import test from "ava";
import { parseMoment } from "../../gateway/usage/history/parse-moment.ts";

for (const [text, moment] of [
  ["2026-11-01", "2026-11-01T00:00:00.000Z"],
  ["2024-02-29T23:59:59.999-12:00", "2024-03-01T11:59:59.999Z"],
  ["2026-02-29", null],
  ["2026-02-29T12:00:00+10:00", null],
  ["2026-04-31T00:00:00Z", null],
  ["2026-13-01", null],
] as const) {
  test(`${text} is ${moment ?? "an invalid timestamp"}`, (t) =>
    t.is(parseMoment(text)?.toISOString() ?? null, moment));
}
