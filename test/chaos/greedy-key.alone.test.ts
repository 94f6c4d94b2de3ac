import { setTimeout as wait } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { chatBody } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { setStage } from "./stage.ts";

const plan = isFull
  ? { rounds: 12, roundMs: 2_000, modest: 8, slowerMax: 0.2 }
  : { rounds: 2, roundMs: 1_000, modest: 4, slowerMax: 1 };
const capacity = 24;
const often = { requestsPerMinute: isFull ? 300 : 60 };
const long = { concurrentRequests: 4 };
/** Requests at this interval reach at least ten times the rate limit. */
const oftenEveryMs = isFull ? 20 : 10;
const longEveryMs = 25;
const answerMs = { often: 50, long: 1_000, modest: 100 };
type Kind = keyof typeof answerMs;

async function play(t: ExecutionContext, bug?: string) {
  const open = { often: 0, long: 0, modest: 0 };
  const most = { ...open };
  const seen = { ...open };
  const upstream = await createUpstream(t, async ({ body }, response) => {
    const kind = /I am (often|long|modest)/.exec(body)?.[1] as Kind;
    seen[kind]++;
    most[kind] = Math.max(most[kind], ++open[kind]);
    await wait(answerMs[kind]);
    open[kind]--;
    sendCompletion(response);
  });
  const databaseUrl = await createMigratedDatabase(t, "sqlite");
  const environment = { CONCURRENT_REQUESTS_MAX: String(capacity), QUEUED_REQUESTS_PER_KEY_MAX: "500" };
  const stage = await setStage(t, {
    upstream,
    databaseUrl,
    dataDir: await createTestFolder(t),
    environment,
    bug,
  });
  const keyWith = async (limits: object) =>
    (await stage.console.keys.create.mutate({ name: "K", models: [stage.model], limits })).value;
  const keys = { often: await keyWith(often), long: await keyWith(long), modest: await keyWith({}) };
  const modest = await Promise.all(Array.from({ length: plan.modest }, () => keyWith({})));

  const refused = { ...seen };
  const ask = async (kind: Kind, key = keys[kind]): Promise<number> => {
    const askedAt = performance.now();
    const response = await fetch(`${stage.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(chatBody(stage.model, `I am ${kind}`)),
    });
    await response.text();
    if (response.status !== 200) refused[kind]++;
    return performance.now() - askedAt;
  };
  let askedOften = 0;
  /**
   * Returns the request durations of the modest clients in ms, with or without the greedy keys.
   * @param leastAsked the minimum total of `often` requests, for slow machines
   */
  const playRound = async (isLoud: boolean, leastAsked = 0): Promise<number[]> => {
    const times: number[] = [];
    const asked: Promise<unknown>[] = [];
    const timers = isLoud
      ? [
          setInterval(() => {
            askedOften++;
            asked.push(ask("often"));
          }, oftenEveryMs),
          setInterval(() => asked.push(ask("long")), longEveryMs),
        ]
      : [];
    const endAt = performance.now() + plan.roundMs;
    await Promise.all(
      modest.map(async (key) => {
        while (performance.now() < endAt || askedOften < leastAsked) times.push(await ask("modest", key));
      }),
    );
    for (const timer of timers) clearInterval(timer);
    await Promise.all(asked);
    return times;
  };
  await playRound(false);
  const [quiet, loud]: [number[], number[]] = [[], []];
  // Alternating rounds spread noise over `quiet` and `loud`. The fastest rounds count, because noise only adds time.
  const rounds = bug ? plan.rounds / 2 : plan.rounds;
  for (let round = 1; round <= rounds; round++) {
    quiet.push(p99(await playRound(false)));
    loud.push(p99(await playRound(true, round === rounds ? often.requestsPerMinute * 1.2 : 0)));
  }
  const slower = Math.min(...loud) / Math.min(...quiet) - 1;
  t.log(
    figures(`B4${bug ? ` ${bug}` : ""}, keys at ten times their limits`, {
      othersP99Ms: `${Math.min(...quiet).toFixed(0)} -> ${Math.min(...loud).toFixed(0)} (${(slower * 100).toFixed(0)} %)`,
      othersRefused: refused.modest,
      [`of ${often.requestsPerMinute} a minute`]: `${seen.often} let through, ${refused.often} refused`,
      [`of ${long.concurrentRequests} at the same time`]: `${most.long} under way, ${refused.long} refused`,
    }),
  );
  return { slower, most, seen, refused };
}

const p99 = (times: number[]) =>
  times.toSorted((left, right) => left - right)[Math.ceil(times.length * 0.99) - 1] ?? Infinity;

test.serial("a key at ten times its limit receives its limit and delays no other key", async (t) => {
  t.timeout(600_000);
  const { slower, most, seen, refused } = await play(t);
  t.is(most.long, long.concurrentRequests);
  t.is(seen.often, often.requestsPerMinute);
  t.true(refused.often > 0 && refused.long > 0);
  t.is(refused.modest, 0);
  t.true(slower <= plan.slowerMax, `${slower}`);
});

test.serial("negative control: a greedy key starves the others", async (t) => {
  t.timeout(600_000);
  const { slower, most, seen } = await play(t, "let-everybody-in.ts");
  t.true(most.long > long.concurrentRequests);
  t.true(seen.often > often.requestsPerMinute);
  t.true(slower > plan.slowerMax, `${slower}`);
});
