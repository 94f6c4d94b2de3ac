import test from "ava";
import fc from "fast-check";
import type { Database } from "../../db/database.ts";
import type { GatewayError } from "../../gateway/errors.ts";
import { Budgets } from "../../gateway/limits/budgets/budgets.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";
import { Ledger } from "../../gateway/limits/budgets/ledger.ts";
import { SlidingMinute } from "../../gateway/limits/rates/meter.ts";

const now = Date.UTC(2027, 0, 15, 12);
/** One output token costs one nano-dollar, and input costs nothing. */
const prices = { inputPrice: 0, cachedInputPrice: null, cacheWritePrice: null, outputPrice: 1_000_000 };
const owners = { key_1: "usr_1", key_2: "usr_1", key_3: "usr_2" };
const keyIds = ["key_1", "key_2", "key_3"] as const;

const amount = fc.integer({ min: 1, max: 5_000 });
const step = fc.record({
  kind: fc.constantFrom("ask", "ask", "ask", "end", "end", "cancel"),
  key: fc.constantFrom(...keyIds),
  reserved: fc.integer({ min: 1, max: 900 }),
  actual: fc.nat(900),
  which: fc.nat(50),
});
const budgetsOf = fc.record({ key: amount, person: amount, gateway: amount });

type Asked = { request: LimitedRequest; holders: string[]; reserved: number; actual: number };

/** A holder's budget, and what the test knows of its use. */
type Account = { budget: number; spent: number; excess: number; largestAlone: number };

function openLimiter(limits: ReturnType<typeof limitsOf>) {
  const database = { read: async () => [] } as unknown as Database;
  const clocks = { now: () => now, monotonicNow: () => 0 };
  const readUndisturbed = (read: () => Promise<void>) => read();
  const budgets = new Budgets({ ...clocks, database, limits, readUndisturbed, warn() {} });
  return { budgets, limiter: new Limiter({ ...clocks, limits, budgets }) };
}

test("no holder's budget is exceeded by more than stated", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 120 }),
      budgetsOf,
      fc.constantFrom(2, 1_000),
      async (steps, budget, queued) => {
        const limits = limitsOf({
          QUEUED_REQUESTS_PER_KEY_MAX: String(queued),
          QUEUE_WAIT_MS_MAX: "600000",
          PERSON_BUDGET_USD_PER_DAY_MAX: (budget.person / 1e9).toFixed(9),
          GATEWAY_BUDGET_USD_PER_DAY_MAX: (budget.gateway / 1e9).toFixed(9),
        });
        const { budgets, limiter } = openLimiter(limits);
        const keys = keyIds.map((id) => limitedKey(id, { dayBudget: budget.key }, owners[id]));
        for (const key of keys) await budgets.loadFor(key);

        const accounts = new Map<string, Account>();
        const add = (id: string, limit: number) =>
          accounts.set(id, { budget: limit, spent: 0, excess: 0, largestAlone: 0 });
        for (const id of keyIds) add(id, budget.key);
        for (const id of Object.values(owners)) add(id, budget.person);
        add("gateway", budget.gateway);
        const accountsOf = ({ holders }: Asked) =>
          holders.map((id) => ({ id, account: accounts.get(id) ?? t.fail(id) })) as {
            id: string;
            account: Account;
          }[];
        const isSpent = (asked: Asked) =>
          accountsOf(asked).some(({ account }) => account.spent >= account.budget);
        const running: Asked[] = [];
        const waiting: Asked[] = [];
        const heldBy = (id: string) =>
          running.reduce((sum, one) => sum + (one.holders.includes(id) ? one.reserved : 0), 0);

        const over = ({ request }: Asked, cost: number | null) =>
          request.admission?.end(
            overRecord(request.key.id, {
              // The averages do not learn from it, so that each reservation stays known.
              status: "CANCELLED",
              ownerId: request.key.ownerId,
              cost: cost ?? 0,
              outputTokens: cost,
              createdAt: new Date(now),
            }),
          );
        const start = (asked: Asked) => {
          const place = waiting.indexOf(asked);
          t.true(place >= 0, "a request started after its end");
          waiting.splice(place, 1);
          for (const { id, account } of accountsOf(asked)) {
            t.true(account.spent < account.budget, "started although a budget is spent");
            const held = heldBy(id);
            if (held === 0) account.largestAlone = Math.max(account.largestAlone, asked.reserved);
            else t.true(account.spent + held + asked.reserved <= account.budget, `${id} has no room`);
          }
          running.push(asked);
        };
        const ask = ({ key, reserved, actual }: { key: number; reserved: number; actual: number }) => {
          const limited = keys[key] ?? t.fail();
          if (!limited) return;
          const asked: Asked = {
            request: new LimitedRequest(limited, (error: GatewayError) => {
              const isFinal = error.code === "insufficient_quota";
              t.is(isFinal, isSpent(asked), `${error.code}: ${error.message}`);
              if (!isFinal) {
                t.is(error.code, "rate_limit_exceeded");
                t.true((error.retryAfterSeconds ?? 0) > 0);
                t.true(waiting.length > queued, "refused although there is room to wait");
              }
              waiting.splice(waiting.indexOf(asked), 1);
              over(asked, null);
            }),
            holders: [limited.id, limited.ownerId ?? "", "gateway"],
            reserved,
            actual,
          };
          waiting.push(asked);
          const demand = { prices, inputTokens: 1, outputTokensMax: reserved };
          try {
            limiter.admit(
              asked.request,
              4,
              () => start(asked),
              () => demand,
            );
          } catch (error) {
            asked.request.fail(error as GatewayError);
          }
        };
        const end = (which: number) => {
          const [asked] = running.splice(which % Math.max(1, running.length), 1);
          if (!asked) return;
          for (const { account } of accountsOf(asked)) {
            account.spent += asked.actual;
            account.excess += Math.max(0, asked.actual - asked.reserved);
          }
          over(asked, asked.actual);
        };
        const cancel = (which: number) => {
          const [asked] = waiting.splice(which % Math.max(1, waiting.length), 1);
          if (asked) over(asked, null);
        };
        for (const { kind, key, reserved, actual, which } of steps) {
          // The first guess of an output is 500 tokens.
          if (kind === "ask") ask({ key: keyIds.indexOf(key), reserved: Math.min(500, reserved), actual });
          else if (kind === "end") end(which);
          else cancel(which);
          t.is(limiter.waitingRequests, waiting.length);
          t.true(running.length > 0 || waiting.length === 0, "requests wait although nothing is in flight");
        }
        while (running.length > 0) end(0);
        t.is(waiting.length, 0);
        t.is(limiter.waitingRequests, 0);
        t.is(budgets.reservedHolders, 0);
        for (const [id, { budget: limit, spent, excess, largestAlone }] of accounts) {
          t.true(spent <= limit + excess + largestAlone, `${id}: ${spent} of ${limit}`);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a cancelled request makes way for the smaller ones that waited behind it", async (t) => {
  const limits = limitsOf({ QUEUE_WAIT_MS_MAX: "600000" });
  const { budgets, limiter } = openLimiter(limits);
  const key = limitedKey("key_1", { dayBudget: 1_000 });
  await budgets.loadFor(key);
  const started: number[] = [];
  const [first, large, small] = [400, 500, 200].map((reserved, index) => {
    const request = new LimitedRequest(key, (error) => t.fail(error.message));
    const demand = { prices, inputTokens: 1, outputTokensMax: reserved };
    limiter.admit(
      request,
      4,
      () => started.push(index),
      () => demand,
    );
    return request;
  });
  t.deepEqual(started, [0, 1]);
  const next = new LimitedRequest(key, (error) => t.fail(error.message));
  limiter.admit(
    next,
    4,
    () => started.push(3),
    () => ({ prices, inputTokens: 1, outputTokensMax: 100 }),
  );
  t.deepEqual(started, [0, 1], "nobody overtakes");
  small?.admission?.end(overRecord("key_1", { status: "CANCELLED", cost: 0 }));
  t.deepEqual(started, [0, 1, 3], "100 fit beside 400 and 500");
  for (const request of [first, large, next]) {
    request?.admission?.end(overRecord("key_1", { status: "CANCELLED", cost: 0 }));
  }
  t.is(budgets.reservedHolders, 0);
});

const environment = { QUEUED_REQUESTS_PER_KEY_MAX: "1000", QUEUE_WAIT_MS_MAX: "600000" };
const demand = (outputTokensMax: number | null = null) => ({ prices, inputTokens: 1, outputTokensMax });

test("100 parallel requests wait for their tokens, and none waits while there is room", (t) => {
  const limiter = new Limiter({ now: () => now, limits: limitsOf(environment), budgets: noBudgets });
  const key = limitedKey("key_1", { tokensPerMinute: 2_000 });
  const started: LimitedRequest[] = [];
  const refused: GatewayError[] = [];
  for (let count = 0; count < 100; count++) {
    const request: LimitedRequest = new LimitedRequest(key, (error) => {
      refused.push(error);
      request.admission?.end(
        overRecord("key_1", { status: "FAILED", inputTokens: null, outputTokens: null }),
      );
    });
    limiter.admit(
      request,
      40,
      () => started.push(request),
      () => demand(),
    );
  }
  t.is(started.length, 3, "each reserves 10 tokens of input and 500 of output");
  for (let index = 0; index < started.length; index++) {
    const used = { inputTokens: 10, outputTokens: 190 };
    started[index]?.admission?.end(overRecord("key_1", used));
  }
  t.is(started.length, 10);
  t.is(limiter.statusOf(key).tokensInMinute, 2_000);
  t.is(refused.length, 90);
  t.true(refused.every(({ code, limitedBy }) => code === "token_limit_exceeded" && limitedBy === "key"));
  t.is(limiter.waitingRequests, 0);
});

for (const [subject, jumpSeconds] of [
  ["two hours", 7_200],
  ["400 days", 34_560_000],
] as const) {
  test(`a minute restarts when the clock is set back by ${subject}`, (t) => {
    const minute = new SlidingMinute();
    minute.add(40_000_000, 5);
    t.is(minute.used(40_000_000 - 30), 5);
    t.is(minute.used(40_000_000 - jumpSeconds), 0);
    minute.add(40_000_000 - jumpSeconds, 2);
    t.is(minute.freeAt(40_000_000 - jumpSeconds, 0), 40_000_000 - jumpSeconds + 60);
  });
}

test("a budget's day returns when the clock is set back, and counts only its own costs", (t) => {
  const dayMs = 86_400_000;
  const ledger = new Ledger(now);
  ledger.add(7, now, now);
  for (const jumped of [now + 400 * dayMs, now + dayMs]) {
    ledger.add(100, jumped, jumped);
    t.is(ledger.in("day", jumped).amount, 100);
    t.is(ledger.in("day", now).amount, 7);
  }
  ledger.add(1, now + dayMs, now);
  t.is(ledger.in("day", now).amount, 7);
  ledger.add(3, now, now);
  t.is(ledger.in("day", now).amount, 10);
});
