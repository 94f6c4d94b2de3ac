import test, { type ExecutionContext } from "ava";
import { Redis } from "ioredis";
import { assertError } from "../helpers/assert-error.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { problemsOf } from "../helpers/problems-of.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { addModel } from "../helpers/add-model.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";
import { skipUnless } from "../helpers/skip-unless.ts";

const password = "p4ss-of-valkey";
const limited = { status: 429, type: "requests", param: null, code: "rate_limit_exceeded" };

async function keyWith(gateway: TestGateway, limits: object): Promise<string> {
  const { value } = await gateway.admin.keys.create.mutate({ name: "K", models: ["demo/echo"], limits });
  return value;
}

const ask = (gateway: TestGateway, value: string) => postChat(gateway, value, chatBody("demo/echo", "x"));
const linesWith = ({ log }: TestGateway, text: string) => log.filter((line) => line.includes(text));

/** Starts a gateway whose upstream holds each request until the test calls its function in `held`. */
async function startHolding(t: ExecutionContext, concurrentRequests: number) {
  const valkey = await startValkey(t);
  const gateway = await startTestGateway(t, { environment: { VALKEY_URL: valkey.url } });
  const held: (() => void)[] = [];
  const { slug } = await addModel(t, gateway, async (response) => {
    await new Promise<void>((resolve) => held.push(resolve));
    sendCompletion(response);
  });
  const criteria = { name: "K", models: [slug], limits: { concurrentRequests } };
  const { key, value } = await gateway.admin.keys.create.mutate(criteria);
  return { valkey, gateway, held, keyId: key.id, hold: () => postChat(gateway, value, chatBody(slug)) };
}

skipUnless(valkeyProgram, "Valkey");
if (valkeyProgram) {
  test("a Valkey outage keeps limits, delays no request, and logs one line per change", async (t) => {
    const valkey = await startValkey(t, "--requirepass", password);
    const url = valkey.url.replace("//", `//default:${password}@`);
    const gateway = await startTestGateway(t, { environment: { VALKEY_URL: url } });
    const value = await keyWith(gateway, { requestsPerMinute: 6 });
    const first = await ask(gateway, value);
    t.is(first.status, 200);
    t.is(first.headers.get("x-ratelimit-remaining-requests"), "5");
    t.is((await ask(gateway, value)).status, 200);

    await valkey.stop();
    t.is((await ask(gateway, value)).status, 200);
    t.is((await ask(gateway, value)).status, 200);
    t.is(linesWith(gateway, "Valkey is unavailable").length, 1);

    await valkey.start();
    await eventually(() => linesWith(gateway, "Valkey is available again").length === 1);
    t.is((await ask(gateway, value)).status, 200);
    t.is((await ask(gateway, value)).status, 200);
    t.regex(assertError(t, await ask(gateway, value), limited), /6 requests per minute/);
    t.is(linesWith(gateway, "Valkey is unavailable").length, 1);
    t.false(gateway.log.some((line) => line.includes(password)));
  });

  test("a stalled Valkey costs one request its timeout and no other any delay", async (t) => {
    const valkey = await startValkey(t);
    const environment = { VALKEY_URL: valkey.url, VALKEY_TIMEOUT_MS: "5000" };
    const gateway = await startTestGateway(t, { environment });
    const value = await keyWith(gateway, { requestsPerMinute: 3, concurrentRequests: 100 });
    t.is((await ask(gateway, value)).status, 200);
    const unlimited = await keyWith(gateway, {});
    valkey.freeze();
    const statuses = (await Promise.all([1, 2, 3, 4].map(() => ask(gateway, value)))).map(
      ({ status }) => status,
    );
    t.deepEqual(statuses.toSorted(), [200, 200, 429, 429]);
    t.regex(linesWith(gateway, "Valkey is unavailable").join(), /no answer within 5000 ms|closed/);
    let status: number | undefined;
    const again = ask(gateway, value).then((answer) => (status = answer.status));
    // Requests without limits never ask Valkey, and twenty of them end long before the timeout.
    for (let count = 0; count < 20; count++) t.is((await ask(gateway, unlimited)).status, 200);
    t.is(status, 429, "it has not waited either");
    await again;
    valkey.wake();
    await eventually(() => linesWith(gateway, "Valkey is available again").length === 1);
    t.is((await ask(gateway, value)).status, 429, "what was let through meanwhile counts");
  });

  test("requests in flight are still counted when Valkey returns", async (t) => {
    const { valkey, gateway, held, hold } = await startHolding(t, 2);
    const holding = [hold(), hold()];
    await eventually(() => held.length === 2);
    await valkey.stop();
    await valkey.start();
    await eventually(() => linesWith(gateway, "Valkey is available again").length === 1);
    assertError(t, await hold(), limited);
    held[0]?.();
    await holding[0];
    const third = hold();
    await eventually(() => held.length === 3);
    assertError(t, await hold(), limited);
    for (const release of held) release();
    t.deepEqual(
      (await Promise.all([...holding, third])).map(({ status }) => status),
      [200, 200, 200],
    );
  });

  test("requests admitted during an outage free their slots afterwards", async (t) => {
    const { valkey, gateway, held, hold, keyId } = await startHolding(t, 1);
    await valkey.stop();
    const first = hold();
    await eventually(() => held.length === 1);
    await valkey.start();
    await eventually(() => linesWith(gateway, "Valkey is available again").length === 1);
    assertError(t, await hold(), limited);
    const client = new Redis(valkey.url);
    t.teardown(() => client.disconnect());
    const underWay = `{model-gateway}:under-way:${keyId}`;
    t.true((await client.ttl(underWay)) > 0, "it goes away by itself, should the process die");

    held[0]?.();
    t.is((await first).status, 200);
    await eventually(() => gateway.services.limiter.meters.get(keyId)?.concurrent === 0);
    const second = hold();
    await eventually(() => held.length === 2);
    assertError(t, await hold(), limited);
    held[1]?.();
    t.is((await second).status, 200);
    await eventually(async () => (await client.exists(underWay)) === 0);
  });

  test("a client that leaves before Valkey answers uses no limit", async (t) => {
    const valkey = await startValkey(t);
    const gateway = await startTestGateway(t, { environment: { VALKEY_URL: valkey.url } });
    const value = await keyWith(gateway, { requestsPerMinute: 2, concurrentRequests: 1 });
    valkey.freeze();
    const leaving = new AbortController();
    const left = postChat(gateway, value, chatBody("demo/echo", "x"), leaving.signal);
    await eventually(() => gateway.services.openExchanges.count().requests === 1);
    leaving.abort();
    await t.throwsAsync(left);
    await eventually(() => gateway.services.openExchanges.count().requests === 0);
    valkey.wake();
    t.is((await ask(gateway, value)).headers.get("x-ratelimit-remaining-requests"), "1");
    t.is((await ask(gateway, value)).status, 200);
  });
}

test("a gateway starts and serves without its configured Valkey", async (t) => {
  const VALKEY_URL = `redis://default:${password}@127.0.0.1:1`;
  const gateway = await startTestGateway(t, { environment: { VALKEY_URL } });
  const value = await keyWith(gateway, { requestsPerMinute: 1 });
  t.is((await ask(gateway, value)).status, 200);
  assertError(t, await ask(gateway, value), limited);
  t.is(linesWith(gateway, "Valkey is unavailable").length, 1);
  t.false(gateway.log.some((line) => line.includes(password)));
});

for (const url of [
  "http://a",
  "redis://",
  "redis://a/b",
  "redis://:p%zz@a",
  "redis://a?db=1",
  "a:6379",
  "redis:/a",
]) {
  test(`"${url}" is an invalid Valkey address`, (t) => {
    t.regex(problemsOf({ VALKEY_URL: url }).join(), /^VALKEY_URL: the value is not a Valkey URL. Use redis:/);
  });
}

for (const url of ["redis://a", "rediss://u:p%2F@a:6380/1", "valkey://a:1", "valkeys://[::1]:6379/0"]) {
  test(`"${url}" is a valid Valkey address`, (t) => {
    t.deepEqual(problemsOf({ VALKEY_URL: url }), []);
  });
}
