import { Session } from "node:inspector/promises";
import test, { type ExecutionContext } from "ava";
import { OpenExchanges } from "../../gateway/completions/exchange.ts";
import { GatewayError } from "../../gateway/errors.ts";
import type { KnownKey } from "../../gateway/keys/authenticate-key.ts";
import { addModel } from "../helpers/add-model.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { beginStream, chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

test("a streamed chat completion passes through at most 34 files", async (t) => {
  // The gateway must not ship usage records during the measured requests.
  const gateway = await startTestGateway(t, { environment: { USAGE_FLUSH_INTERVAL_MS: "60000" } });
  const { slug } = await addModel(t, gateway, (response) => {
    beginStream(response);
    response.end(chunkEvent("Hello") + usageEvent + doneEvent);
  });
  const { id } = await gateway.admin.models.get.query({ slug });
  await gateway.admin.models.update.mutate({ id, prices: { input: 1, output: 2 } });
  const key = await createKey(gateway, [slug]);
  const stream = async () => {
    const { text } = await postChat(gateway, key.value, chatBody(slug, "Hi", { stream: true }));
    t.true(text.endsWith(doneEvent));
  };
  await stream();

  const executedFiles = await startCoverage(t);
  const rounds: Set<string>[] = [];
  for (let round = 0; round < 10; round++) {
    await executedFiles();
    await stream();
    rounds.push(await executedFiles());
  }
  // Timers may run other files during a round, so only files that run in every round count.
  const files = [...(rounds[0] ?? [])].filter((file) => rounds.every((round) => round.has(file))).toSorted();
  t.true(files.includes("completions/answer-request.ts"));
  t.true(files.length <= 34, `${files.length} files:\n${files.join("\n")}`);
});

/** The returned function lists the gateway's files whose code ran since the previous call. */
async function startCoverage(t: ExecutionContext): Promise<() => Promise<Set<string>>> {
  const session = new Session();
  session.connect();
  t.teardown(() => session.disconnect());
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const gateway = new URL("../../gateway/", import.meta.url).href;
  return async () => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const executed = result.filter(
      ({ url, functions }) =>
        url.startsWith(gateway) && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    );
    const files = new Set(executed.map(({ url }) => url.slice(gateway.length)));
    for (const file of beforeTheRouter) files.delete(file);
    return files;
  };
}

/** These files serve every request, before the router. */
const beforeTheRouter = ["start/start-gateway.ts", "app.ts"];

test("random additions and removals keep the totals and the counts per key exact", (t) => {
  const random = seededRandom(7);
  const open = new OpenExchanges();
  const expected = new Set<FakeExchange>();
  for (let step = 0; step < 2_000; step++) {
    const under = [...expected];
    if (random.chance(step < 1_000 ? 0.6 : 0.4) || under.length === 0) {
      const exchange = new FakeExchange(open, keyOf(random.upTo(3)), random.chance(0.5));
      open.add(exchange);
      expected.add(exchange);
    } else {
      const leaving = under[random.upTo(under.length - 1)];
      if (leaving) open.remove(leaving);
      if (leaving) expected.delete(leaving);
    }
    const streams = [...expected].filter(({ stream }) => stream).length;
    t.deepEqual(open.count(), { requests: expected.size, streams });
    t.deepEqual(open.keyIds().toSorted(), [...new Set([...expected].map(({ key }) => key.id))].toSorted());
  }
});

test("stopping a key ends all its exchanges while each removes itself", (t) => {
  const open = new OpenExchanges();
  const exchanges = Array.from({ length: 9 }, (_, index) => new FakeExchange(open, keyOf(index % 3), false));
  for (const exchange of exchanges) open.add(exchange);
  open.update("key_1", "hash_1", null, new GatewayError("invalid_api_key", "It has been stopped."));
  t.deepEqual(
    exchanges.map(({ hasFailed }) => hasFailed),
    exchanges.map(({ key }) => key.id === "key_1"),
  );
  t.is(open.count().requests, 6);
  t.deepEqual(open.hashesOf("key_1"), new Set());
  t.deepEqual(open.hashesOf("key_2"), new Set(["hash_2"]));
});

class FakeExchange {
  index = -1;
  readonly route = null;
  hasFailed = false;
  readonly #open: OpenExchanges;
  key: KnownKey;
  readonly stream: boolean;

  constructor(open: OpenExchanges, key: KnownKey, stream: boolean) {
    this.#open = open;
    this.key = key;
    this.stream = stream;
  }

  moveTo(index: number): void {
    this.index = index;
  }

  keyChanged(key: KnownKey): void {
    this.key = key;
  }

  fail(): void {
    this.hasFailed = true;
    this.#open.remove(this);
  }
}

function keyOf(number: number): KnownKey {
  const [id, hash] = [`key_${number}`, `hash_${number}`];
  const names = { id, hash, name: id, ownerId: null, teamId: null, chargeFactor: null };
  return { ...names, isActive: true, validUntil: null, modelIds: new Set(), limits: null };
}
