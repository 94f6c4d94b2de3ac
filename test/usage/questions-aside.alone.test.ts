import test from "ava";
import { startProcess } from "../bench/measured-process.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { administrator, createConsoleClient } from "../helpers/test-gateway.ts";
import type { FilledGateway } from "./filled-gateway.ts";
import type { StreamClock } from "./stream-clock.ts";

const addedMsMax = 50;
const rows = isFull ? 1_000_000 : 60_000;
/** A p99 of fewer chunks would be their maximum. */
const chunksMin = isFull ? 400 : 120;
/** Other processes slow down some attempts, but not all. */
const triesMax = isFull ? 5 : 3;

const sums =
  "interval apiKeyId apiKeyName model provider requests succeeded failed inputTokens outputTokens costUsd chargeUsd unknownCosts p50DurationMs p95DurationMs p95TimeToFirstTokenMs";
const documents = {
  page: "{ usageRecords(first: 50) { edges { node { id model costUsd } } } }",
  "rare page": "{ usageRecords(filter: { status: FAILED, minLatencyMs: 100 }) { edges { node { id } } } }",
  "whole page":
    "{ usageRecords(first: 500) { edges { node { id createdAt apiKeyName ownerName model provider status inputTokens outputTokens costUsd costLines { component quantity amountUsd } latencyMs } } } }",
  record: '{ usageRecord(id: "req_1") { id } }',
  "by model": `{ usageSummary(groupBy: [MODEL]) { ${sums} } }`,
  "by key and model": `{ usageSummary(groupBy: [API_KEY, MODEL]) { ${sums} } }`,
  "by day": `{ usageSummary(groupBy: [API_KEY], interval: DAY) { ${sums} } }`,
  "by hour": `{ usageSummary(groupBy: [MODEL], interval: HOUR) { ${sums} } }`,
};

// The short form has too few chunks for a p99, so it is part of the full run only.
(isFull ? test : test.skip)("no question delays the chunks of a stream by more than 50 ms", async (t) => {
  t.timeout(3_600_000);
  const gateway = startProcess<FilledGateway>("../usage/filled-gateway.ts");
  const clock = startProcess<StreamClock>("../usage/stream-clock.ts");
  t.teardown(() => Promise.all([gateway.stop(), clock.stop()]));
  const { url, setUpToken } = await gateway.ask("start", rows);
  const { accessToken } = await createConsoleClient(url).auth.setUp.mutate({
    token: setUpToken,
    ...administrator,
  });
  const admin = createConsoleClient(url, accessToken);
  const member = await addPerson({ url, admin }, "member@example.com");
  await gateway.ask("giveHistory", member.id);
  const { value, model } = await connectUpstream({ admin }, await clock.ask("upstream"));
  await clock.ask("read", { url, key: value, model });

  /** Repeats the questions until enough chunks arrived. Null asks nothing. */
  const measure = async (ask: (() => Promise<unknown>) | null, count: number) => {
    await clock.ask("takeDelays");
    const delays: number[] = [];
    while (delays.length < chunksMin) {
      if (ask) await Promise.all(Array.from({ length: count }, ask));
      else await new Promise((resolve) => setTimeout(resolve, 100));
      delays.push(...(await clock.ask("takeDelays")));
    }
    return percentile(delays, 0.99);
  };

  const slow: string[] = [];
  for (const person of [
    { role: "administrator", console: admin, accessToken },
    { role: "member", ...member },
  ]) {
    for (const [name, ask] of Object.entries(questionsOf(url, person))) {
      // The first questions also load code.
      await ask();
      let idleMs = await measure(null, 0);
      for (const count of [1, 6]) {
        let addedMs = Infinity;
        for (let tries = 0; tries < triesMax && addedMs > addedMsMax; tries++) {
          if (tries > 0) idleMs = await measure(null, 0);
          addedMs = Math.min(addedMs, (await measure(ask, count)) - idleMs);
        }
        const line = figures(`${person.role}, ${name}, ${count} at once`, { addedMs: addedMs.toFixed(1) });
        t.log(line);
        if (addedMs > addedMsMax) slow.push(line);
      }
    }
  }
  t.deepEqual(slow, []);
});

type Asking = { console: ReturnType<typeof createConsoleClient>; accessToken: string };

function questionsOf(
  url: string,
  { console: { overview }, accessToken }: Asking,
): Record<string, () => Promise<unknown>> {
  const graphql = Object.entries(documents).map(([name, document]): [string, () => Promise<unknown>] => [
    name,
    async () => {
      const { errors } = await askHistory({ url }, accessToken, document);
      if (errors[0]) throw new Error(`${name}: ${errors[0].message}`);
    },
  ]);
  return {
    ...Object.fromEntries(graphql),
    onboarding: () => overview.onboarding.query(),
    overview: () => overview.get.query({ period: "30d" }),
    top: () => overview.top.query({ period: "30d" }),
    spending: () => overview.spending.query(),
    keys: () => overview.keys.query(),
    budgets: () => overview.budgets.query(),
  };
}

function percentile(values: number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? 0;
}
