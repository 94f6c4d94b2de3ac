import test from "ava";
import type { GatewayError } from "../../gateway/errors.ts";
import type { LimitedKey } from "../../gateway/limits/holders.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import type { Meter } from "../../gateway/limits/rates/meter.ts";
import { ShareExchange } from "../../gateway/limits/rates/share-exchange.ts";
import { eventually } from "../helpers/eventually.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";
import { openTestDatabase } from "../helpers/open-test-database.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { databaseKinds, serverKind } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";
import { startThreeProcesses } from "../helpers/three-processes.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

const requestsPerMinute = 600;
const intervalMs = 250;

// SQLite supports one process.
for (const kind of databaseKinds.filter((each) => each !== "sqlite")) {
  test(`${kind}: three processes exceed 600 a minute by at most the documented margin`, async (t) => {
    let now = Date.UTC(2026, 11, 1);
    const runtime = { now: () => now };
    // The interval is long, because the test triggers the exchanges itself.
    const environment = { LIMIT_EXCHANGE_INTERVAL_MS: "1000000" };
    const one = await startTestGateway(t, { kind, environment, runtime });
    const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
    const joining = { environment: { ...environment, DATABASE_URL }, runtime };
    const gateways = [one, ...(await Promise.all([1, 2].map(() => startTestGateway(t, joining))))];
    const key = limitedKey("key_shared", { requestsPerMinute });

    // The test sends ten times the limit, in rotation across the processes.
    const through: number[] = [];
    for (let sent = 0; sent < 6_000; sent++, now += 10) {
      const { services } = gateways[sent % 3] ?? one;
      if (isAdmitted(services.limiter, key)) through.push(now);
      else t.true(inMinute(through, now) >= requestsPerMinute, "refused below the limit");
      if (now % intervalMs === 0) {
        for (const gateway of gateways) await gateway.services.exchangeLimits();
      }
    }
    const most = Math.max(...through.map((at) => inMinute(through, at)));
    // In two intervals, the two other processes admit at most this many requests.
    const overshootMax = Math.ceil(((2 / 3) * (2 * intervalMs)) / 10);
    t.log(`at most ${most} within a minute, limit ${requestsPerMinute}, stated overshoot ${overshootMax}`);
    t.true(most >= requestsPerMinute && most <= requestsPerMinute + overshootMax, `${most}`);

    for (const gateway of gateways) await gateway.services.exchangeLimits();
    for (const { services } of gateways) {
      t.is(services.limiter.statusOf(key).requestsInMinute, inMinute(through, now), "each knows of all");
    }

    // After more than two intervals without an exchange, each process limits itself to its share.
    now += 2_000_001_000;
    const alone = gateways.map(({ services }) => {
      let admitted = 0;
      for (let sent = 0; sent < 1_000; sent++) if (isAdmitted(services.limiter, key)) admitted++;
      return admitted;
    });
    t.deepEqual(alone, [200, 200, 200], "each keeps to its share");
    // After two rounds, every process has read the counts of every other process.
    for (const gateway of [...gateways, ...gateways]) await gateway.services.exchangeLimits();
    t.false(isAdmitted(one.services.limiter, key));
  });
}

function isAdmitted(limiter: Limiter, key: LimitedKey): boolean {
  try {
    limiter.admit(new LimitedRequest(key), 1, () => {});
    return true;
  } catch (error) {
    if ((error as GatewayError).code !== "rate_limit_exceeded") throw error;
    return false;
  }
}

function inMinute(times: number[], now: number): number {
  const second = Math.floor(now / 1000);
  return times.filter((at) => at <= now && Math.floor(at / 1000) > second - 60).length;
}

for (const kind of databaseKinds) {
  test(`${kind}: a restarted process keeps its predecessor's limit`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const criteria = { name: "Kept", models: ["demo/echo"], limits: { requestsPerMinute: 3 } };
    const { key, value } = await gateway.admin.keys.create.mutate(criteria);
    for (let request = 0; request < 3; request++) await postChat(gateway, value, chatBody("demo/echo", "x"));
    await gateway.close();
    const again = await startTestGateway(t, { environment: gateway.environment });
    await postChat(again, value, chatBody("demo/echo", "x"));
    await eventually(() => {
      const meter = again.services.limiter.meters.get(key.id);
      return meter && meter.requests.used(Math.floor(Date.now() / 1000)) === 4;
    });
    t.is((await postChat(again, value, chatBody("demo/echo", "x"))).status, 429);
  });
}

for (const kind of databaseKinds) {
  test(`${kind}: a late report of a second reaches the others within two seconds`, async (t) => {
    const database = await openTestDatabase(t, kind);
    let now = Date.UTC(2026, 11, 1);
    const startProcess = (processId: string) => {
      const meters = new Map<string, Meter>();
      const limiter = new Limiter({ now: () => now, limits: limitsOf(), budgets: noBudgets, meters });
      const clocks = { now: () => now, monotonicNow: () => now };
      const exchange = new ShareExchange({ database, ...clocks, processId, meters, intervalMs });
      const key = limitedKey("key_1", { tokensPerMinute: 100_000 });
      const ask = (bodyBytes: number) => {
        const asking = new LimitedRequest(key, (error) => t.fail(error.message));
        limiter.admit(asking, bodyBytes, () => {});
        const use = { inputTokens: 500, outputTokens: 500 };
        return { end: () => asking.admission?.end(overRecord(key.id, use)) };
      };
      return { exchange, ask, knows: () => limiter.statusOf(key).tokensInMinute };
    };
    const [one, two] = [startProcess("prc_1"), startProcess("prc_2")];
    const pass = async (ms: number, processes = [one, two]) => {
      for (const until = now + ms; now < until;) {
        now += intervalMs;
        for (const { exchange } of processes) await exchange.run();
      }
    };
    // Both processes create a meter for the key, so neither process reads the key's last minute later.
    for (const { ask } of [one, two]) ask(4_000).end();
    await pass(1_000);

    const long = one.ask(360_000);
    await pass(8_000);
    t.is(two.knows(), 92_000);
    long.end();
    await pass(2_000 + intervalMs);
    t.is(two.knows(), 3_000, "what was given back");
    t.notThrows(() => two.ask(360_000).end());

    one.ask(40_000);
    await pass(8_000, [two]);
    t.is(two.knows(), 4_000);
    await pass(2_000 + intervalMs);
    t.is(two.knows(), 14_000, "what was let through by a process that could not tell for a while");
  });
}

const count = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
/** Four exchange intervals. After that time, every process has read a new count. */
const boundMs = 1_000;

if (serverKind) {
  test.serial("without Valkey three processes exceed the limit by at most the stated margin", async (t) => {
    const three = await startThreeProcesses(t, { limits: { requestsPerMinute } });
    const answers = await three.ask(500, 8);
    const through = answers.filter(({ status }) => status === 200);
    const mostWithin = (ms: number) =>
      Math.max(
        ...through.map(({ at }) => through.filter((each) => each.at >= at && each.at < at + ms).length),
      );
    // The requests that two of three processes admit within `boundMs`, plus the requests in flight.
    const overshootMax = Math.ceil((mostWithin(boundMs) * 2) / 3) + 3 * 8;
    t.log(
      `${through.length} of ${answers.length} let through, the stated overshoot at this pace is ${overshootMax}`,
    );
    t.true(through.length >= requestsPerMinute);
    t.true(mostWithin(58_000) <= requestsPerMinute + overshootMax);
    t.is(count(answers, 429), answers.length - through.length);
  });
}

if (serverKind && valkeyProgram) {
  test.serial("with Valkey three processes admit exactly 600 of 600 a minute", async (t) => {
    const { url } = await startValkey(t);
    const three = await startThreeProcesses(t, {
      limits: { requestsPerMinute },
      environment: { VALKEY_URL: url },
    });
    const startedAt = performance.now();
    const answers = await three.ask(250, 16);
    const seconds = (performance.now() - startedAt) / 1000;
    t.log(`${count(answers, 200)} of ${answers.length} let through in ${seconds.toFixed(1)} s`);
    t.true(seconds < 58, "it has to be one minute");
    // Each process has listed the key's models once before.
    const left = requestsPerMinute - three.gateways.length;
    t.is(count(answers, 200), left);
    t.is(count(answers, 429), answers.length - left);
    for (const { log } of three.gateways) t.notRegex(log(), /Valkey is unavailable/);
  });
}
