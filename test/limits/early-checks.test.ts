import test from "ava";
import type { GatewayError } from "../../gateway/errors.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets } from "../helpers/limited-key.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

const startMs = 1_700_000_000_000;

function open(environment: Record<string, string> = {}) {
  const clock = { now: startMs };
  const limiter = new Limiter({
    now: () => clock.now,
    limits: limitsOf(environment),
    budgets: noBudgets,
  });
  return { clock, limiter };
}

test("a call without a model counts as one request, without tokens and concurrency", async (t) => {
  const { limiter, clock } = open();
  const limits = { requestsPerMinute: 2, tokensPerMinute: 100, concurrentRequests: 1 };
  const key = limitedKey("key_1", limits);
  limiter.admit(new LimitedRequest(key), 40, () => {});
  await limiter.countRequest(key);
  t.like(limiter.statusOf(key), { requestsInMinute: 2, concurrentRequests: 1 });
  const error = await t.throwsAsync<GatewayError>(limiter.countRequest(key));
  t.like(error, { code: "rate_limit_exceeded", limitedBy: "key", retryAfterSeconds: 60 });
  clock.now += 60_000;
  await t.notThrowsAsync(limiter.countRequest(key));
});

test("calls without a model count for the person and the gateway", async (t) => {
  for (const [variable, limitedBy] of [
    ["PERSON_REQUESTS_PER_MINUTE_MAX", "person"],
    ["GATEWAY_REQUESTS_PER_MINUTE_MAX", "gateway"],
  ] as const) {
    const { limiter } = open({ [variable]: "1" });
    await limiter.countRequest(limitedKey("key_1", {}, "usr_1"));
    await t.throwsAsync(limiter.countRequest(limitedKey("key_2", {}, "usr_1")), {
      message: new RegExp(limitedBy === "person" ? "owner" : "whole gateway"),
    });
  }
});

test("a check counts nothing, and its refusal has the headers of the limits", (t) => {
  const { limiter } = open();
  const asking = new LimitedRequest(limitedKey("key_1", { requestsPerMinute: 1 }));
  for (let checks = 0; checks < 5; checks++) limiter.check(asking);
  t.is(limiter.statusOf(asking.key).requestsInMinute, 0);
  limiter.admit(asking, 1, () => {});
  const next = new LimitedRequest(asking.key);
  t.throws(() => limiter.check(next), { code: "rate_limit_exceeded" } as object);
  t.deepEqual(next.admission?.addHeaders([]).slice(0, 4), [
    "x-ratelimit-limit-requests",
    "1",
    "x-ratelimit-remaining-requests",
    "0",
  ]);
});

if (valkeyProgram) {
  test("in Valkey, calls without a model count over all processes", async (t) => {
    const { url } = await startValkey(t);
    const first = await startTestGateway(t, { environment: { VALKEY_URL: url } });
    const environment = { VALKEY_URL: url, DATABASE_URL: first.environment["DATABASE_URL"] ?? "" };
    const second = await startTestGateway(t, { environment, withoutAdministrator: true });
    const { id, value } = await createKey(first);
    const limits = { requestsPerMinute: 3, concurrentRequests: 1 };
    await first.admin.keys.setLimits.mutate({ id, limits });
    const list = async (base: string) => {
      const response = await fetch(`${base}/v1/models`, { headers: { authorization: `Bearer ${value}` } });
      await response.arrayBuffer();
      return response.status;
    };
    const statuses: number[] = [];
    for (const base of [first.url, second.url, first.url, second.url, first.url]) {
      statuses.push(await list(base));
    }
    t.deepEqual(statuses, [200, 200, 200, 429, 429]);
  });
}
