import { writeFileSync } from "node:fs";
import path from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { Redis } from "ioredis";
import type { GatewayError } from "../../gateway/errors.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import type { ValkeyLimits } from "../../gateway/limits/valkey/valkey-limits.ts";
import { freePort } from "../helpers/free-port.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";
import { makeCertificate } from "../helpers/make-certificate.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { connectValkeyLimits, holderOf } from "../helpers/valkey-limits.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";
import { skipUnless } from "../helpers/skip-unless.ts";

const owner = sharedByFile();
const clock = { now: Date.UTC(2026, 11, 1) };
let url = "";

skipUnless(valkeyProgram, "Valkey");
if (valkeyProgram) {
  test.serial.before(async () => {
    ({ url } = await startValkey(owner));
  });

  test.serial("in Valkey no sixty seconds exceed the limit, and none below it are refused", async (t) => {
    const processes = [await connect(t), await connect(t), await connect(t)];
    let run = 0;
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 12 }), async (list, requestsPerMinute) => {
        const holder = holderOf(`key_${run++}`, { requestsPerMinute });
        const through: number[] = [];
        const inMinute = (second: number) => through.filter((at) => at > second - 60 && at <= second).length;
        for (const { waitMs, process } of list) {
          const second = Math.floor((clock.now += waitMs) / 1000);
          const answer = await processes[process]?.reserve([holder], 1);
          if (!answer) return t.fail();
          if ("undo" in answer) {
            t.true(inMinute(second) < requestsPerMinute, "let through above the limit");
            through.push(second);
            t.is(answer.used[0]?.requests, inMinute(second));
            continue;
          }
          t.is(inMinute(second), requestsPerMinute, "refused below the limit");
          const { retryAfterSeconds } = answer.error;
          t.true(inMinute(Math.floor(clock.now / 1000) + (retryAfterSeconds ?? 0)) < requestsPerMinute);
        }
      }),
      { numRuns: 40 },
    );
  });

  test.serial("tokens are corrected afterwards: unused ones returned, missing ones added", async (t) => {
    const [one, other] = [await connect(t), await connect(t)];
    const holder = holderOf("key_tokens", { tokensPerMinute: 100 });
    const first = await one.reserve([holder], 60);
    const second = await other.reserve([holder], 40);
    if (!first || !second || !("undo" in first) || !("undo" in second)) return t.fail();
    const refused = await other.reserve([holder], 1);
    t.regex(refused && "error" in refused ? refused.error.message : "", /used 100,/);
    t.is(refused && "error" in refused ? refused.error.limitedBy : null, "key");
    clock.now += 59_000;
    first.end(-50);
    second.end(5);
    // Valkey orders commands only within a client, so this reply confirms that the `end` of `other` has run.
    await other.reserve([holderOf("key_else", {})], 0);
    t.deepEqual((await one.reserve([holder], 1))?.used, [{ requests: 3, tokens: 56 }]);
    clock.now += 1_000;
    t.deepEqual(
      (await one.reserve([holder], 1))?.used,
      [{ requests: 2, tokens: 7 }],
      "what was missing is new",
    );
  });

  test.serial("a request refused by one scope is counted in none", async (t) => {
    const one = await connect(t);
    const [key, person] = [
      holderOf("key_wide", {}),
      holderOf("usr_narrow", { holder: "person", requestsPerMinute: 1 }),
    ];
    t.truthy(await one.reserve([key, person], 1));
    const refused = await one.reserve([key, person], 1);
    t.is(refused && "error" in refused ? refused.error.limitedBy : null, "person");
    t.deepEqual(refused?.used, [
      { requests: 1, tokens: 1 },
      { requests: 1, tokens: 1 },
    ]);
    const again = await one.reserve([key], 1);
    t.deepEqual(again?.used, [{ requests: 2, tokens: 2 }]);
    if (again && "undo" in again) again.undo();
    t.deepEqual((await one.reserve([key], 1))?.used, [{ requests: 2, tokens: 2 }]);
  });

  test.serial("a request that waited without success is no longer counted", async (t) => {
    const exact = await connect(t);
    const limits = limitsOf({ CONCURRENT_REQUESTS_MAX: "1", QUEUE_WAIT_MS_MAX: "1" });
    const limiter = new Limiter({ now: () => clock.now, limits, budgets: noBudgets, exact });
    const key = limitedKey("key_waiting", { requestsPerMinute: 9, tokensPerMinute: 99 });
    const admitted = new LimitedRequest(key, (error) => t.fail(error.message));
    await new Promise<void>((resolve) => limiter.admit(admitted, 40, resolve));
    const refused = Promise.withResolvers<GatewayError>();
    const waiting = new LimitedRequest(key, refused.resolve);
    limiter.admit(waiting, 40, () => t.fail("there is no room"));
    t.is((await refused.promise).code, "service_unavailable");
    const { admission } = waiting;
    admission?.end(overRecord("key_waiting", { inputTokens: null, outputTokens: null }));
    t.deepEqual(admission?.exactUse, [{ requests: 1, tokens: 10 }]);
    t.deepEqual((await exact.reserve([holderOf("key_waiting", {})], 0))?.used, [{ requests: 2, tokens: 10 }]);
  });

  test.serial("concurrent requests are counted over all processes except dead ones", async (t) => {
    const [one, other] = [await connect(t), await connect(t)];
    const holder = holderOf("key_open", { concurrentRequests: 3 });
    const isIn = async (process: ValkeyLimits) => {
      const answer = await process.reserve([holder], 0);
      return answer && "undo" in answer ? answer : null;
    };
    const places = [await isIn(one), await isIn(other), await isIn(other)];
    t.true(places.every(Boolean));
    t.is(await isIn(one), null);
    places[1]?.end(0);
    // Valkey orders commands only within a client, so this reply confirms that the `end` of `other` has run.
    await other.reserve([holderOf("key_else", {})], 0);
    t.truthy(await isIn(one));
    t.is(await isIn(one), null);
    // The deletion simulates the expiry of a dead process's session.
    const client = new Redis(url);
    const underWay = await client.hgetall("{model-gateway}:under-way:key_open");
    const [alive = "", dead = ""] = Object.keys(underWay).toSorted();
    await client.del(`{model-gateway}:session:${dead}`);
    t.truthy(await isIn(one));
    t.deepEqual(await client.hgetall("{model-gateway}:under-way:key_open"), { [alive]: "3" });
    const ttl = await client.ttl("{model-gateway}:minute:key_open");
    t.true(ttl > 60 && ttl <= 120, "it goes away by itself");
    client.disconnect();
  });
}

const steps = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.nat(300), fc.nat(5_000), fc.nat(100_000)),
    process: fc.nat(2),
  }),
  { minLength: 1, maxLength: 60 },
);

const connect = (t: ExecutionContext) => connectValkeyLimits(t, url, () => clock.now);

if (valkeyProgram) {
  test("two gateways share counts over TLS only if they trust Valkey's certificate", async (t) => {
    const authority = makeCertificate({ name: "Test authority" });
    const { key, certificate } = makeCertificate({ name: "valkey", hosts: ["127.0.0.1"], issuer: authority });
    const folder = await createTestFolder(t);
    const place = (name: string, text: string) => {
      writeFileSync(path.join(folder, name), text);
      return path.join(folder, name);
    };
    const port = await freePort();
    await startValkey(
      t,
      "--tls-port",
      String(port),
      "--tls-auth-clients",
      "no",
      "--tls-cert-file",
      place("certificate.pem", certificate),
      "--tls-key-file",
      place("key.pem", key),
      "--tls-ca-cert-file",
      place("authority.pem", authority.certificate),
    );
    const environment = { VALKEY_URL: `rediss://127.0.0.1:${port}` };
    const stranger = await startTestGateway(t, { environment });
    t.is(await remaining(stranger, await createLimitedKey(stranger)), "5");
    t.regex(stranger.log.join(""), /certificate.*Valkey is unavailable/);
    t.notRegex(stranger.log.join(""), /"level":"error"/, "to wait for Valkey disturbs nobody");

    setDefaultCACertificates([...getCACertificates(), authority.certificate]);
    const one = await startTestGateway(t, { environment });
    const { DATABASE_URL = "", DATA_DIR = "" } = one.environment;
    const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL, DATA_DIR } });
    const value = await createLimitedKey(one);
    t.is(await remaining(one, value), "5");
    t.is(await remaining(other, value), "4");
    t.is(await remaining(one, value), "3");
    t.notRegex([...one.log, ...other.log].join(""), /Valkey is unavailable/);
  });
}

async function createLimitedKey(gateway: TestGateway): Promise<string> {
  const { id, value } = await createKey(gateway);
  await gateway.admin.keys.setLimits.mutate({ id, limits: { requestsPerMinute: 6 } });
  return value;
}

async function remaining(gateway: TestGateway, value: string): Promise<string | null> {
  const { status, headers } = await postChat(gateway, value, chatBody("demo/echo", "x"));
  return status === 200 ? headers.get("x-ratelimit-remaining-requests") : `status ${status}`;
}
