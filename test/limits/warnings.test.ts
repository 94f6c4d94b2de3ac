import { createHmac } from "node:crypto";
import test from "ava";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const secret = "a secret that is thirty-two bytes long, and more";

for (const kind of databaseKinds) {
  test(`${kind}: warnings at 80 % and 100 % are signed, sent once and retried`, async (t) => {
    let ahead = 0;
    const statuses = [500, 302, 204, 204];
    const receiver = await createUpstream(t, (_request, response) => {
      response.writeHead(statuses.shift() ?? 204, { location: "/elsewhere" }).end();
    });
    const environment = { LIMIT_WEBHOOK_URL: `${receiver.url}/hook`, LIMIT_WEBHOOK_SECRET: secret };
    const runtime = { now: () => Date.now() + ahead };
    const gateway = await startTestGateway(t, { kind, environment, runtime });
    const { id: modelId } = await gateway.admin.models.get.query({ slug: "demo/echo" });
    await gateway.admin.models.update.mutate({ id: modelId, prices: { input: 0, output: 1_000 } });
    const { key, value } = await gateway.admin.keys.create.mutate({
      name: "Warned",
      models: ["demo/echo"],
      // Echoing one word takes one or a few tokens. Ten responses must spend the budget.
      limits: { budgetsUsd: { total: await tenAnswers() } },
    });
    async function tenAnswers(): Promise<number> {
      const probe = await gateway.admin.keys.create.mutate({ name: "Probe", models: ["demo/echo"] });
      const answer = await postChat(gateway, probe.value, chatBody("demo/echo", "word"));
      const { usage } = JSON.parse(answer.text) as { usage: { completion_tokens: number } };
      return (usage.completion_tokens * 10) / 1_000;
    }
    const ask = async () => (await postChat(gateway, value, chatBody("demo/echo", "word"))).status;

    for (let request = 0; request < 7; request++) t.is(await ask(), 200);
    const events = () => gateway.services.database.read(({ limitEvents }) => limitEvents.list(key.id, 10));
    t.deepEqual(await events(), []);
    t.is(await ask(), 200);
    await eventually(async () => (await events())[0]?.attempts === 1 && receiver.requests.length === 1);
    ahead += 31_000;
    await eventually(() => receiver.requests.length === 2);
    ahead += 121_000;
    await eventually(async () => (await events())[0]?.sendAt === null);
    t.is(receiver.requests.length, 3, "a redirect is not followed, and is no success");

    t.is(await ask(), 200);
    t.is(await ask(), 200);
    t.is(await ask(), 402);
    await eventually(async () => (await events()).length === 2 && (await events())[0]?.sendAt === null);
    const bodies = receiver.requests.map(({ body }) => JSON.parse(body));
    t.deepEqual(
      bodies.map(({ type, data }) => [type, data.percent]),
      [...Array.from({ length: 3 }, () => ["budget.warning", 80]), ["budget.spent", 100]],
    );
    const { budgetUsd, spentUsd, ...said } = bodies[3].data;
    t.deepEqual(said, {
      scope: "key",
      apiKeyId: key.id,
      apiKeyName: "Warned",
      ownerId: key.owner?.id,
      period: "total",
      periodStartsAt: null,
      percent: 100,
    });
    t.is(spentUsd, budgetUsd);
    for (const { headers, body, url } of receiver.requests) {
      t.is(url, "/hook");
      const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
      const signature = createHmac("sha256", secret).update(signed).digest("base64");
      t.is(headers["webhook-signature"], `v1,${signature}`);
    }
    t.false(gateway.log.join("").includes(secret));
  });
}
