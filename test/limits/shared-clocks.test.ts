import test from "ava";
import { Meter } from "../../gateway/limits/rates/meter.ts";
import { Limiter } from "../../gateway/limits/rates/limiter.ts";
import { ShareExchange } from "../../gateway/limits/rates/share-exchange.ts";
import { limitedKey, LimitedRequest, limitsOf, noBudgets, overRecord } from "../helpers/limited-key.ts";
import { openTestDatabase } from "../helpers/open-test-database.ts";
import { databaseKinds } from "../helpers/test-database.ts";

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

const jumps = { "set back by two hours": [0, -7_200], "ahead by 400 days and corrected": [34_560_000, 0] };

for (const kind of databaseKinds) {
  for (const [name, [before = 0, after = 0]] of Object.entries(jumps)) {
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
}

type Process = { limiter: Limiter; exchange: ShareExchange };
