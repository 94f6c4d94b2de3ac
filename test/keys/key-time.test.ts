import test, { type ExecutionContext } from "ava";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { beginStream, chunkEvent, createUpstream } from "../helpers/scripted-upstream.ts";

const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
const shared = shareGateway({ runtime: { now: () => clock.now } });
const statusWith = async (value: string) => (await postChat(shared(), value, chatBody("demo/echo"))).status;

test.serial("a key is refused from the moment it expires", async (t) => {
  const { admin } = shared();
  const expiresAt = "2026-06-01T14:01:00+02:00";
  const input = { name: "Short-lived", models: ["demo/echo"], expiresAt };
  const { key, value } = await admin.keys.create.mutate(input);
  t.is(new Date(key.expiresAt ?? 0).toISOString(), "2026-06-01T12:01:00.000Z");

  clock.now += 59_999;
  t.is(await statusWith(value), 200);
  clock.now += 1;
  t.is(await statusWith(value), 401);

  const inThePast = admin.keys.create.mutate({ name: "Too late", expiresAt });
  t.like(await t.throwsAsync(inThePast), { data: { code: "BAD_REQUEST", param: "expiresAt" } });
});

test.serial("an expired key works again with a later expiry", async (t) => {
  const { admin } = shared();
  const at = (time: number) => new Date(time).toISOString();
  const criteria = { name: "K", models: ["demo/echo"], expiresAt: at(clock.now + 1_000) };
  const { key, value } = await admin.keys.create.mutate(criteria);
  t.is(await statusWith(value), 200);
  clock.now += 1_000;
  t.is(await statusWith(value), 401);
  await admin.keys.setLimits.mutate({ id: key.id, limits: { requestsPerMinute: 9 } });
  t.is(await statusWith(value), 401);
  await admin.keys.setLimits.mutate({ id: key.id, expiresAt: at(clock.now + 1_000) });
  t.is(await statusWith(value), 200);
  clock.now += 1_000;
  t.is(await statusWith(value), 401);
});

test.serial("a rotation without overlap ends the old value at once", async (t) => {
  const { admin } = shared();
  const { id, value: first } = await createKey(shared());
  t.is(await statusWith(first), 200);

  clock.now += 1_000;
  const { value: second } = await admin.keys.rotate.mutate({ id, overlapSeconds: 0 });

  t.deepEqual([await statusWith(first), await statusWith(second)], [401, 200]);
});

test.serial("a second rotation does not extend the first value", async (t) => {
  const { admin } = shared();
  const { id, value: first } = await createKey(shared());
  clock.now += 1_000;
  const { value: second } = await admin.keys.rotate.mutate({ id, overlapSeconds: 10 });
  clock.now += 1_000;
  const { value: third } = await admin.keys.rotate.mutate({ id, overlapSeconds: 60 });

  const statuses = async () => [await statusWith(first), await statusWith(second), await statusWith(third)];
  t.deepEqual(await statuses(), [200, 200, 200]);
  clock.now += 9_000;
  t.deepEqual(await statuses(), [401, 200, 200]);
  clock.now += 51_000;
  t.deepEqual(await statuses(), [401, 401, 200]);
});

test.serial("deactivating a rotated key stops both values", async (t) => {
  const { admin } = shared();
  const { id, value: first } = await createKey(shared());
  clock.now += 1_000;
  const { value: second } = await admin.keys.rotate.mutate({ id });
  t.deepEqual([await statusWith(first), await statusWith(second)], [200, 200]);

  await admin.keys.deactivate.mutate({ id });
  t.deepEqual([await statusWith(first), await statusWith(second)], [401, 401]);
  await admin.keys.activate.mutate({ id });
  t.deepEqual([await statusWith(first), await statusWith(second)], [200, 200]);
  await admin.keys.delete.mutate({ id });
  t.deepEqual([await statusWith(first), await statusWith(second)], [401, 401]);
});

for (const kind of databaseKinds) {
  test(`${kind}: a rotated key has two values until the overlap ends, and shows the newest`, async (t) => {
    const own = { now: Date.parse("2026-06-01T12:00:00Z") };
    const gateway = await startTestGateway(t, { kind, runtime: { now: () => own.now } });
    const { admin } = gateway;
    const statusOf = async (value: string) => (await postChat(gateway, value, chatBody("demo/echo"))).status;
    const { id, value: first } = await createKey(gateway);

    own.now += 1_000;
    const { key, value: second } = await admin.keys.rotate.mutate({ id, overlapSeconds: 60 });
    t.is(key.id, id);
    t.is(key.maskedValue, `sk-gateway-…${second.slice(-4)}`);
    t.deepEqual([await statusOf(first), await statusOf(second)], [200, 200]);

    own.now += 59_999;
    t.deepEqual([await statusOf(first), await statusOf(second)], [200, 200]);

    own.now += 1;
    t.deepEqual([await statusOf(first), await statusOf(second)], [401, 200]);

    await admin.keys.deactivate.mutate({ id });
    t.is(await statusOf(second), 401);

    // Both values have the same time of creation.
    for (let attempt = 0; attempt < 8; attempt++) {
      const { id } = await createKey(gateway);
      const { key, value } = await admin.keys.rotate.mutate({ id, overlapSeconds: 60 });
      t.is(key.maskedValue, `sk-gateway-…${value.slice(-4)}`);
    }
  });
}

test("a stream ends when its key expires, and frees the upstream", async (t) => {
  const { gateway, clock, expiring, lasting, upstream } = await startWithExpiry(t);
  const ended = openChat(gateway, expiring.value, chatBody("test/model", "Hi", { stream: true }));
  const going = openChat(gateway, lasting.value, chatBody("test/model", "Hi", { stream: true }));
  await Promise.all([ended.received("Hel"), going.received("Hel")]);

  clock.now += 60_000;
  await ended.received("The API key is invalid");

  const [record] = await usageOf(gateway, expiring.id);
  t.like(record, { status: "FAILED", errorCode: "invalid_api_key" });
  await eventually(() => upstream.sockets.size === 1);
  t.deepEqual(gateway.services.openExchanges.keyIds(), [lasting.id]);
  going.request.destroy();
});

test("a turn on a WebSocket ends when its key expires", async (t) => {
  const { gateway, clock, expiring } = await startWithExpiry(t);
  const socket = await openSocket(t, gateway, expiring.value);
  socket.send({ type: "response.create", model: "test/model", input: "Hi" });
  await socket.until(() => socket.frames.find(({ delta }) => delta === "Hel"));

  clock.now += 60_000;
  const failed = await socket.until(() => socket.frames.find(({ type }) => type === "response.failed"));

  t.is(failed.response?.status, "failed");
  const [record] = await usageOf(gateway, expiring.id);
  t.like(record, { status: "FAILED", errorCode: "invalid_api_key" });
});

async function startWithExpiry(t: ExecutionContext) {
  const clock = { now: Date.now() };
  const upstream = await createUpstream(t, (_, response) => {
    beginStream(response);
    response.write(chunkEvent("Hel"));
  });
  const gateway = await startTestGateway(t, { runtime: { now: () => clock.now } });
  const lasting = await connectUpstream(gateway, upstream);
  const expiresAt = new Date(clock.now + 60_000).toISOString();
  const created = await gateway.admin.keys.create.mutate({ name: "K", models: ["test/model"], expiresAt });
  const expiring = { id: created.key.id, value: created.value };
  return { gateway, clock, upstream, lasting, expiring };
}
