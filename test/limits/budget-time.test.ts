import test from "ava";
import { Ledger, periodAt } from "../../gateway/limits/budgets/ledger.ts";

const at = (text: string) => Date.parse(text);

const cases = [
  ["day", "2026-11-21T23:59:59.999Z", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"],
  ["week", "2026-11-22T23:59:59.999Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"],
  ["week", "2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
  ["week", "2027-01-01T12:00:00Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"],
  ["month", "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"],
  ["month", "2026-12-31T23:59:59.999Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
] as const;

for (const [period, now, startsAt, endsAt] of cases) {
  test(`the ${period} of ${now} starts at ${startsAt}`, (t) => {
    t.deepEqual(periodAt(period, at(now)), { startsAt: at(startsAt), endsAt: at(endsAt) });
  });
}

test("every week starts on Monday", (t) => {
  for (let day = 0; day < 5_000; day++) {
    const { startsAt, endsAt } = periodAt("week", day * 86_400_000 + 5);
    t.is(new Date(startsAt).getUTCDay(), 1);
    t.is(endsAt - startsAt, 7 * 86_400_000);
    t.true(startsAt <= day * 86_400_000 && day * 86_400_000 < endsAt);
  }
});

test("a request counts in the period in which it started", (t) => {
  const before = at("2026-11-30T23:59:59Z");
  const after = at("2026-12-01T00:00:05Z");
  const ledger = new Ledger(before);
  ledger.add(7, before, before);
  t.is(ledger.in("day", before).amount, 7);
  ledger.add(100, before, after);
  t.is(ledger.in("day", after).amount, 0);
  t.is(ledger.in("week", after).amount, 107, "1 December is a Tuesday");
  t.is(ledger.in("month", after).amount, 0);
  t.is(ledger.in("total", after).amount, 107);
});
