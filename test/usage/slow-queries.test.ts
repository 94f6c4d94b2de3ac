import test from "ava";
import { UsageHistory } from "../../gateway/usage/history/usage-history.ts";
import { openTestDatabase } from "../helpers/open-test-database.ts";
import { randomUsage, usualWorld } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";
import { QueryTooLongError } from "../../db/database-errors.ts";
import { toGatewayError } from "../../gateway/errors.ts";

for (const kind of allDatabaseKinds) {
  // Tests run serially, because SQLite blocks the thread that MySQL needs.
  test.serial(`${kind}: the database ends a slow query and stays available`, async (t) => {
    const database = await openTestDatabase(t, kind, { operationTimeoutMs: 30_000 });
    const random = seededRandom(1);
    const start = Date.UTC(2026, 10, 1);
    const records = Array.from({ length: 5_000 }, () =>
      randomUsage(random, new Date(start + random.upTo(3_599_000)), usualWorld),
    );
    await database.write(({ usageRecords }) => usageRecords.insertAll(records));
    const person = {
      id: "usr_1",
      name: "Ada",
      email: "ada@example.com",
      sessionId: "ses_1",
      role: "admin",
    } as const;
    // The period is shorter than an hour, so the query sums the records themselves.
    const criteria = { from: new Date(start + 1), to: new Date(start + 3_598_000) };
    const ask = (usageQueryTimeoutMs: number) =>
      new UsageHistory({
        database,
        limits: { usageQueryTimeoutMs, usageSummaryRowsMax: 10_000 },
      }).summarize(person, criteria, { groupBy: ["apiKeyId", "model"], interval: "hour" });

    const error = await t.throwsAsync(ask(1), { instanceOf: QueryTooLongError });
    t.like(toGatewayError(error), { code: "service_unavailable", retryAfterSeconds: 5 });

    const rows = await ask(20_000);
    t.true(rows.reduce((sum, { requests }) => sum + requests, 0) > 4_900);
  });
}
