import { EventEmitter, once } from "node:events";
import test from "ava";
import { answerRequest } from "../../gateway/completions/answer-request.ts";
import { conversation } from "../../gateway/completions/conversation.ts";
import { chat } from "../../gateway/dialects/chat/chat.ts";
import { Exchange } from "../../gateway/completions/exchange.ts";
import type { Reply } from "../../gateway/completions/reply.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { createId } from "../../gateway/ids.ts";
import { hashKeyValue } from "../../gateway/keys/authenticate-key.ts";
import type { UsageRecorder } from "../../gateway/usage/recording/usage-recorder.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { type DatabaseKind, allDatabaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const requests = isFull ? 10_000 : 3_000;
const budgetUsd = requests * 0.000_12;
const underWay = 500;

const variables = {
  key: null,
  person: "PERSON_BUDGET_USD_PER_MONTH_MAX",
  gateway: "GATEWAY_BUDGET_USD_PER_MONTH_MAX",
};

for (const [index, [whose, variable]] of Object.entries(variables).entries()) {
  for (const [place, kind] of allDatabaseKinds.entries()) {
    // Below full scale, each budget is tested on one kind of database.
    if (isFull || place === index % allDatabaseKinds.length) spendExactly(kind, whose, variable);
  }
}

/** @param variable the environment variable of the budget, or null for the key's budget */
function spendExactly(kind: DatabaseKind, whose: string, variable: string | null) {
  test(`${kind}: a ${whose}'s budget is exact over requests of mixed prices`, async (t) => {
    const environment = {
      // The refreshes are frequent enough to coincide with unshipped records.
      BUDGET_REFRESH_INTERVAL_MS: "20",
      // Requests that do not fit beside those in flight wait instead of being refused.
      QUEUED_REQUESTS_PER_KEY_MAX: "1000",
      ...(variable !== null && { [variable]: budgetUsd.toFixed(2) }),
    };
    const gateway = await startTestGateway(t, { kind, environment });
    const { services, admin } = gateway;
    const random = seededRandom(9);
    const { providerId } = await admin.models.get.query({ slug: "demo/echo" });
    const models: string[] = [];
    for (const [index, input] of [0.000001, 0.15, 1.234567, 3, 15.000001].entries()) {
      const slug = `demo/price-${index}`;
      const prices = { input, output: input * 4 };
      await admin.models.create.mutate({ slug, providerId, upstreamModel: "echo", prices });
      models.push(slug);
    }
    const { key, value } = await admin.keys.create.mutate({
      name: "Exact",
      models,
      // The key's budget must not be reached while another budget is tested.
      limits: { budgetsUsd: { total: variable === null ? budgetUsd : 1_000 } },
    });
    const known = await services.keyCache.find(hashKeyValue(value));
    if (!known) return t.fail();
    const spent = () => services.budgets.spentIn(key.id, "total")?.amount ?? -1;
    const budget = Math.round(budgetUsd * 1e9);

    const open = new Set<string>();
    // The sum of all costs, calculated without the gateway's budgets.
    let sum = 0;
    const recorder = {
      start: (...start: Parameters<UsageRecorder["start"]>) => services.recorder.start(...start),
      record: (...over: Parameters<UsageRecorder["record"]>) => {
        sum += over[0].cost ?? 0;
        services.recorder.record(...over);
        if (open.delete(over[0].id)) overs.emit("over");
      },
    } as unknown as UsageRecorder;

    const overs = new EventEmitter();
    let [admitted, refused] = [0, 0];
    for (let request = 0; request < requests; request++) {
      while (open.size >= underWay) await once(overs, "over");
      t.is(spent(), sum, "at any moment");
      const isLeft = sum < budget;
      const exchange = new Exchange({
        id: createId("req", services.runtime),
        key: known,
        endpoint: "chat/completions",
        telemetryName: "chat",
        clientTool: null,
        reply: silentReply(),
        recorder,
        openExchanges: services.openExchanges,
        observer: null,
        observed: null,
        heldBody: { release() {} },
      });
      const slug = models[random.upTo(models.length - 1)] ?? "";
      const words = "word ".repeat(1 + random.upTo(20));
      try {
        const bytes = Buffer.from(JSON.stringify(chatBody(slug, words)));
        answerRequest(services, exchange, conversation(chat), {
          bytes,
          headers: {},
          heldBody: { add() {} },
          findFollowUp: null,
        });
        t.true(isLeft, "let through after the end");
        admitted++;
        open.add(exchange.id);
      } catch (error) {
        t.is((error as GatewayError).code, "insufficient_quota");
        t.false(isLeft, "refused before the end");
        refused++;
        exchange.fail(error as GatewayError);
      }
    }
    while (open.size > 0) await once(overs, "over");
    await services.recorder.flush();

    const costs = await services.database.read(({ usageRollUps }) =>
      usageRollUps.dailyCosts({ of: "keys", ids: [key.id] }),
    );
    const shipped = costs.reduce((sum, { cost }) => sum + cost, 0);
    t.true(admitted > underWay && refused > underWay, `${admitted} admitted, ${refused} refused`);
    t.is(spent(), shipped);
    t.is(sum, shipped);
    t.true(shipped >= budget);
    await services.budgets.load([key.id]);
    t.is(spent(), shipped, "and the same again from the history alone");
    t.log(`${admitted} admitted, ${refused} refused, ${shipped} nano-dollars of ${budget}`);
  });
}

function silentReply(): Reply {
  const nothing = () => {};
  return {
    hasBegun: false,
    statusOf: () => 402,
    write: () => true,
    streamWith: nothing,
    beginStream: nothing,
    endStream: nothing,
    send: nothing,
    fail: nothing,
    abandon: nothing,
    onDrain: nothing,
  };
}
