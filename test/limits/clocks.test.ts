import test from "ava";
import type { Database, Repositories } from "../../db/database.ts";
import { AuditLog } from "../../gateway/audit/audit-log.ts";
import { ChangeFeed } from "../../gateway/keys/change-feed.ts";
import { BudgetWarnings } from "../../gateway/limits/budgets/budget-warnings.ts";
import { BudgetWatch } from "../../gateway/limits/budgets/budget-watch.ts";
import type { Spending } from "../../gateway/limits/budgets/spending.ts";
import { Meter } from "../../gateway/limits/rates/meter.ts";
import { ShareExchange } from "../../gateway/limits/rates/share-exchange.ts";
import type { GatewayError } from "../../gateway/errors.ts";
import { createLog } from "../../gateway/log.ts";
import { type Runtime, systemRuntime } from "../../gateway/runtime.ts";
import { SpanDelivery } from "../../gateway/tracing/tracing.ts";
import { administrator, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";
import { openTestDatabase } from "../helpers/open-test-database.ts";
import { databaseKinds } from "../helpers/test-database.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

type Place = {
  name: string;
  lastsMs: number;
  /** Starts the duration, and returns a check whether it is over. */
  start: (context: { runtime: Runtime; gateway: TestGateway }) => Promise<() => Promise<boolean> | boolean>;
};

/** Every place that measures a time between two moments with the runtime's clocks. */
const places: Place[] = [
  {
    name: "a cool-down",
    lastsMs: 30_000,
    async start({ gateway, runtime }) {
      const { coolDowns } = gateway.services.attempts;
      const candidate = { providerId: "prv_1", credentialId: null, upstreamModel: { name: "a" } };
      coolDowns.start({ ...candidate, providerName: "one" }, 30_000, { code: "http_500", reason: null });
      return () => {
        const leftMs = coolDowns.leftMs(candidate);
        const shown = coolDowns.find(candidate);
        return shown === null ? leftMs === 0 : Math.abs(shown.until - runtime.now() - leftMs) > 1;
      };
    },
  },
  {
    name: "the sign-in limiter",
    lastsMs: 15 * minuteMs,
    async start({ gateway }) {
      const isRefused = async () => {
        const wrong = gateway.services.accounts.signIn(administrator.email, "wrong", "192.0.2.1");
        const error = await wrong.then(
          () => null,
          (reason: GatewayError) => reason,
        );
        return error?.code === "too_many_attempts";
      };
      for (let attempts = 0; !(await isRefused()) && attempts < 100; attempts++);
      return async () => !(await isRefused());
    },
  },
  {
    name: "an unknown key's entry in the cache",
    lastsMs: 1_000,
    async start({ gateway }) {
      const { database, keyCache } = gateway.services;
      const hash = "a".repeat(64);
      await keyCache.find(hash);
      return async () => {
        let reads = 0;
        const read = database.read.bind(database);
        database.read = (ask) => {
          reads++;
          return read(ask);
        };
        const found = keyCache.find(hash);
        database.read = read;
        await found;
        return reads > 0;
      };
    },
  },
  {
    name: "a kept response",
    lastsMs: hourMs,
    async start({ gateway }) {
      const { keptResponses } = gateway.services;
      // Finding a response renews its expiry, so each check has a response of its own.
      const ids = ["1", "2"].map((digit) => `resp_${digit.repeat(26)}`);
      for (const id of ids) keptResponses?.keep("key_1", { response: { id }, output: [] }, "x");
      return async () => (await keptResponses?.find("key_1", ids.pop() ?? "")) === null;
    },
  },
  {
    name: "pruning of the change feed",
    lastsMs: 10 * minuteMs,
    async start({ runtime }) {
      const prunes = { count: 0 };
      const changes = { latestNumber: async () => 0, deleteBefore: async () => void prunes.count++ };
      const feed = new ChangeFeed({ database: fakeDatabase({ changes }), runtime, pollIntervalMs: hourMs });
      await feed.start({ async changed() {}, async everythingChanged() {} });
      await feed.close();
      return hasPruned(prunes, () => feed.poll());
    },
  },
  {
    name: "pruning of the audit log",
    lastsMs: hourMs,
    async start({ runtime }) {
      const prunes = { count: 0 };
      const auditEntries = { async insert() {}, deleteBefore: async () => void prunes.count++ };
      const audit = new AuditLog({ database: fakeDatabase({}), runtime, retentionDays: 30 });
      const actor = { id: null, name: null, address: "192.0.2.1" };
      const entity = { id: "usr_1", name: "Ada" };
      const repositories = { auditEntries } as unknown as Repositories;
      return hasPruned(prunes, () => audit.record(repositories, actor, "user.signIn", entity));
    },
  },
  {
    name: "pruning of budget warnings",
    lastsMs: dayMs,
    async start({ runtime }) {
      const prunes = { count: 0 };
      const limitEvents = { deleteBefore: async () => void prunes.count++ };
      const warnings = new BudgetWarnings({
        database: fakeDatabase({ limitEvents }),
        runtime,
        webhook: null,
      });
      return hasPruned(prunes, () => warnings.work());
    },
  },
  {
    name: "pruning of shared rates",
    lastsMs: minuteMs,
    async start({ runtime }) {
      const prunes = { count: 0 };
      const exchange = exchangeOf(runtime, { deleteOutside: async () => void prunes.count++ });
      return hasPruned(prunes, () => exchange.run());
    },
  },
  {
    name: "the trust in other processes' rates",
    lastsMs: 501,
    async start({ runtime }) {
      const exchange = exchangeOf(runtime, {});
      await exchange.run();
      return () => exchange.sharedBy === 2;
    },
  },
  {
    name: "the watch on a spender's budget",
    lastsMs: 10_001,
    async start({ runtime }) {
      const ledger = { isInUse: false };
      const spending = { ledgerOf: () => ledger, async refresh() {} } as unknown as Spending;
      const watch = new BudgetWatch({ ...runtime, spending, warn() {} });
      const holder = { kind: "key", apiKeyId: "key_1", apiKeyName: "One", ownerId: null } as const;
      watch.spent("key_1", holder, []);
      return async () => {
        await watch.refresh();
        ledger.isInUse = false;
        await watch.refresh();
        return !ledger.isInUse;
      };
    },
  },
  {
    name: "the report of lost spans",
    lastsMs: minuteMs,
    async start({ runtime }) {
      let reports = 0;
      const log = createLog("warn", { write: () => void reports++ });
      const exporter = { export() {}, async shutdown() {} };
      const timing = { delayMs: hourMs, timeoutMs: 1_000, queueSpansMax: 0 };
      const delivery = new SpanDelivery({ ...timing, exporter, runtime: { ...runtime, log } });
      const lose = () => delivery.onEnd({} as Parameters<typeof delivery.onEnd>[0]);
      lose();
      return () => {
        const before = reports;
        lose();
        return reports > before;
      };
    },
  },
];

/** Runs `work` once now. Returns a check whether another run prunes again. */
async function hasPruned(prunes: { count: number }, work: () => Promise<unknown>) {
  await work();
  return async () => {
    const before = prunes.count;
    await work();
    return prunes.count > before;
  };
}

function fakeDatabase(repositories: object): Database {
  const run = (ask: (given: object) => unknown) => ask(repositories);
  return { read: run, write: run } as unknown as Database;
}

function exchangeOf(runtime: Runtime, more: object): ShareExchange {
  const nothing = { async deleteOutside() {}, async put() {} };
  const limitUses = { ...nothing, countOthers: async () => 1, ofOthers: async () => [], ...more };
  const meters = new Map([["key_1", new Meter()]]);
  const database = fakeDatabase({ limitUses });
  return new ShareExchange({ ...runtime, database, processId: "prc_1", meters, intervalMs: 250 });
}

const jumps = [
  { name: "set back by two hours", before: 0, after: -2 * hourMs },
  { name: "set ahead by 400 days", before: 0, after: 400 * dayMs },
  { name: "set ahead by 400 days and corrected", before: 400 * dayMs, after: 0 },
];

for (const { name, before, after } of jumps) {
  test(`durations keep their length while the clock is ${name}`, async (t) => {
    const clock = { passedMs: 0, aheadMs: 0 };
    const startedAt = Date.now();
    const clocks = {
      now: () => startedAt + clock.passedMs + clock.aheadMs,
      monotonicNow: () => clock.passedMs,
    };
    const environment = { RESPONSES_STATE: "memory", RESPONSES_KEPT_MS: String(hourMs) };
    const gateway = await startTestGateway(t, { environment, runtime: clocks });
    const runtime = { ...systemRuntime(createLog("silent", { write() {} })), ...clocks };
    for (const place of places) {
      clock.aheadMs = before;
      const isOver = await place.start({ runtime, gateway });
      clock.aheadMs = after;
      clock.passedMs += place.lastsMs - 1;
      t.false(await isOver(), `${place.name} must not end early`);
      clock.passedMs += 1;
      t.true(await isOver(), `${place.name} must end in time`);
      // No place starts in the remainder of another.
      clock.passedMs += dayMs;
    }
    clock.aheadMs = 0;
  });
}

for (const kind of databaseKinds) {
  test(`${kind}: a process with a wrong clock leaves no rates behind`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const second = 1_800_000_000;
    let passedMs = 0;
    const monotonicNow = () => passedMs;
    const now = () => second * 1000 + passedMs;
    const meters = new Map([["key_1", new Meter()]]);
    const options = { database, now, monotonicNow, processId: "prc_1", meters, intervalMs: 250 };
    const exchange = new ShareExchange(options);
    const use = { subjectId: "key_1", requests: 1, tokens: 1 };
    const secondsLate = [-34_560_000, -7_200, -30, 0, 30, 7_200, 34_560_000];
    await database.write(({ limitUses }) =>
      limitUses.put(secondsLate.map((late) => ({ ...use, processId: `prc_${late}`, second: second + late }))),
    );
    await exchange.run();
    passedMs = 61_000;
    await exchange.run();
    const left = await database.read(({ limitUses }) => limitUses.ofOthers("prc_1", { from: 0 }));
    t.deepEqual(
      left.map((row) => row.second - second).toSorted((one, other) => one - other),
      [-30, 0, 30],
    );
    passedMs += 500_000;
    t.is(exchange.sharedBy, 2, "only processes of the last minute divide the limits");
  });
}

const sharedJumps = [
  [databaseKinds[0], "set back by two hours", 0, -7_200],
  [databaseKinds.at(-1), "ahead by 400 days and corrected", 34_560_000, 0],
] as const;

for (const [kind = "sqlite", name, before, after] of sharedJumps) {
  test(`${kind}: processes whose clocks were ${name} share their minute again`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const clock = { passedMs: 0, aheadMs: before * 1000 };
    const now = () => Date.UTC(2027, 0, 1) + clock.passedMs + clock.aheadMs;
    const monotonicNow = () => clock.passedMs;
    const key = limitedKey("key_1", { requestsPerMinute: 100, tokensPerMinute: 100_000 });
    const [one, two] = ["prc_1", "prc_2"].map((processId) => {
      const meters = new Map<string, Meter>();
      const limiter = new Limiter({ now, limits: limitsOf(), budgets: noBudgets, meters });
      const options = { database, now, monotonicNow, processId, meters, intervalMs: 250 };
      return { limiter, exchange: new ShareExchange(options) };
    }) as [Process, Process];
    const ask = ({ limiter }: Process) => {
      const request = new LimitedRequest(key, (error) => t.fail(error.message));
      limiter.admit(request, 400, () => {});
      request.admission?.end(overRecord(key.id, { inputTokens: 100, outputTokens: 0 }));
    };
    const pass = async (ms: number) => {
      for (const until = clock.passedMs + ms; clock.passedMs < until;) {
        clock.passedMs += 250;
        for (const { exchange } of [one, two]) await exchange.run();
      }
    };
    for (const process of [one, two, two]) ask(process);
    await pass(3_000);
    t.is(one.limiter.statusOf(key).requestsInMinute, 3);
    clock.aheadMs = after * 1000;
    t.is(one.limiter.statusOf(key).requestsInMinute, 0, "the minute restarts");
    await pass(1_000);
    for (const process of [one, one, two]) ask(process);
    await pass(3_000);
    for (const { limiter, exchange } of [one, two]) {
      t.like(limiter.statusOf(key), { requestsInMinute: 3, tokensInMinute: 300 });
      t.is(exchange.sharedBy, 1);
    }
    await pass(61_000);
    for (const { limiter } of [one, two]) t.is(limiter.statusOf(key).requestsInMinute, 0);
  });
}

type Process = { limiter: Limiter; exchange: ShareExchange };
