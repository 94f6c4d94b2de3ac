import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import test, { type ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { openStream } from "../helpers/open-chat.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { type DatabaseKind, databaseKinds } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

/** Returns two gateways with one database. For SQLite, which supports one process, both are the same gateway. */
async function startPair(t: ExecutionContext, kind: DatabaseKind) {
  const here = await startTestGateway(t, { kind });
  if (kind === "sqlite") return { here, there: { url: here.url } };
  const { DATABASE_URL = "" } = here.environment;
  const environment = { PORT: "0", DATA_DIR: await createTestFolder(t), DATABASE_URL };
  return { here, there: { url: await startGatewayProcess(t, environment).listening() } };
}

const longPrompt = `/slow 100 ${"word ".repeat(300)}`;

for (const kind of databaseKinds) {
  const withinMs = kind === "sqlite" ? "at once" : "by another process within a second";

  test(`${kind}: stopping or resuming a key takes effect ${withinMs}`, async (t) => {
    const { here, there } = await startPair(t, kind);
    const { admin } = here;
    const statusThere = async (value: string) => (await postChat(there, value, chatBody("demo/echo"))).status;
    const waits: string[] = [];
    const changes = async (what: string, change: Promise<unknown>, value: string, status: number) => {
      await change;
      const answeredAt = performance.now();
      await eventually(async () => (await statusThere(value)) === status);
      const tookMs = performance.now() - answeredAt;
      waits.push(`${what} ${Math.round(tookMs)} ms`);
      t.true(tookMs < 1_000, `${what} took ${tookMs} ms`);
      t.is(await statusThere(value), status, "and it stays so");
    };

    for (let round = 0; round < (isFull ? 5 : 2); round++) {
      const { id, value } = await createKey(here);
      t.is(await statusThere(value), 200, "a new key works everywhere at once");
      await changes("deactivated", admin.keys.deactivate.mutate({ id }), value, 401);
      await changes("activated", admin.keys.activate.mutate({ id }), value, 200);
      await changes("unsubscribed", admin.keys.setModels.mutate({ id, models: [] }), value, 404);
      await changes("subscribed", admin.keys.setModels.mutate({ id, models: ["demo/echo"] }), value, 200);
      await changes("rotated", admin.keys.rotate.mutate({ id, overlapSeconds: 0 }), value, 401);
    }
    const { id, value } = await createKey(here);
    t.is(await statusThere(value), 200);
    await changes("deleted", admin.keys.delete.mutate({ id }), value, 401);

    t.log(waits.slice(-6).join(", "));
  });

  test(`${kind}: a new key for a new model works everywhere at once`, async (t) => {
    const { here, there } = await startPair(t, kind);
    for (const name of ["one", "two", "three"]) {
      const { value, model } = await connectUpstream(here, { url: "http://127.0.0.1:1" }, { name });
      const answer = await postChat(there, value, chatBody(model));
      t.not(answer.status, 404, "the model is found");
    }
  });

  test(`${kind}: open streams of a stopped key are cut ${withinMs}, without [DONE]`, async (t) => {
    const { here, there } = await startPair(t, kind);
    const { admin } = here;
    const stops: Record<string, (id: string) => Promise<unknown>> = {
      deactivated: (id) => admin.keys.deactivate.mutate({ id }),
      deleted: (id) => admin.keys.delete.mutate({ id }),
      unsubscribed: (id) => admin.keys.setModels.mutate({ id, models: [] }),
      "rotated without overlap": (id) => admin.keys.rotate.mutate({ id, overlapSeconds: 0 }),
    };
    const other = await createKey(here);
    const untouched = await openStream(there, other.value, "/slow 300 one two three four");

    const cut = Object.entries(stops).map(async ([what, stop]) => {
      const { id, value } = await createKey(here);
      const stream = await openStream(there, value, longPrompt);
      await stop(id);
      const answeredAt = performance.now();
      t.true(await stream.ended, what);
      const tookMs = performance.now() - answeredAt;

      t.true(tookMs < 1_000, `${what}: took ${tookMs} ms`);
      const text = stream.text();
      t.false(text.includes("[DONE]"), what);
      const last = text.trimEnd().split("\n\n").at(-1) ?? "";
      t.like(JSON.parse(last.replace(/^data: /, "")), { error: { code: "invalid_api_key" } }, what);
      return `${what} ${Math.round(tookMs)} ms`;
    });

    t.log((await Promise.all(cut)).join(", "));
    t.true(await untouched.ended);
    t.true(untouched.text().endsWith("data: [DONE]\n\n"), "another key's stream goes on to its end");
  });

  test(`${kind}: a deleted model ends its streams and is missing ${withinMs}`, async (t) => {
    const { here, there } = await startPair(t, kind);
    const provider = await here.admin.providers.create.mutate({ name: "other", kind: "demo" });
    await here.admin.models.create.mutate({ slug: "other/echo", providerId: provider.id });
    const { value } = await createKey(here, ["other/echo", "demo/echo"]);
    await knows(there, value, "other/echo", 200);
    const gone = await openStream(there, value, longPrompt, "other/echo");
    const stays = await openStream(there, value, "/slow 200 one two three four");

    await here.admin.models.delete.mutate({ slug: "other/echo" });
    const answeredAt = performance.now();

    t.true(await gone.ended);
    t.false(gone.text().includes("[DONE]"));
    await knows(there, value, "other/echo", 404);
    t.true(performance.now() - answeredAt < 1_000);
    t.true(await stays.ended);
    t.true(stays.text().endsWith("data: [DONE]\n\n"));
  });
}

function knows(gateway: Pick<TestGateway, "url">, value: string, model: string, status: number) {
  return eventually(async () => {
    const answer = await postChat(gateway, value, chatBody(model));
    return answer.status === status;
  });
}

test("a model removed from a key is refused even if the body is still arriving", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const body = JSON.stringify({ model: "demo/echo", messages: [{ role: "user", content: "Hello" }] });
  const outgoing = request(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.value}`, "content-length": body.length },
  });
  const answered = once(outgoing, "response");
  outgoing.write(body.slice(0, 10));
  while (gateway.services.openExchanges.keyIds().length === 0) await new Promise(setImmediate);

  await gateway.admin.keys.setModels.mutate({ id: key.id, models: [] });
  outgoing.end(body.slice(10));

  const [response] = (await answered) as [IncomingMessage];
  t.is(response.statusCode, 404);
  t.is(JSON.parse(await text(response)).error.code, "model_not_found");
});
