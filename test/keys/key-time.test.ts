import test, { type ExecutionContext } from "ava";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { type DatabaseKind, databaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

async function startWithClock(t: ExecutionContext, kind: DatabaseKind) {
  const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
  const gateway = await startTestGateway(t, { kind, runtime: { now: () => clock.now } });
  const statusWith = async (value: string) => (await postChat(gateway, value, chatBody("demo/echo"))).status;
  return { clock, ...gateway, statusWith, gateway };
}

for (const kind of databaseKinds) {
  test(`${kind}: a rotated key has two values until the overlap ends`, async (t) => {
    const { clock, admin, gateway, statusWith } = await startWithClock(t, kind);
    const { id, value: first } = await createKey(gateway);

    clock.now += 1_000;
    const { key, value: second } = await admin.keys.rotate.mutate({ id, overlapSeconds: 60 });
    t.is(key.id, id);
    t.is(key.maskedValue, `sk-gateway-…${second.slice(-4)}`);
    t.deepEqual([await statusWith(first), await statusWith(second)], [200, 200]);

    clock.now += 59_999;
    t.deepEqual([await statusWith(first), await statusWith(second)], [200, 200]);

    clock.now += 1;
    t.deepEqual([await statusWith(first), await statusWith(second)], [401, 200]);

    await admin.keys.deactivate.mutate({ id });
    t.is(await statusWith(second), 401);
  });

  test(`${kind}: an expired key works again with a later expiry`, async (t) => {
    const { clock, admin, statusWith } = await startWithClock(t, kind);
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

  test(`${kind}: a rotation without overlap ends the old value at once`, async (t) => {
    const { clock, admin, gateway, statusWith } = await startWithClock(t, kind);
    const { id, value: first } = await createKey(gateway);
    t.is(await statusWith(first), 200);

    clock.now += 1_000;
    const { value: second } = await admin.keys.rotate.mutate({ id, overlapSeconds: 0 });

    t.deepEqual([await statusWith(first), await statusWith(second)], [401, 200]);
  });

  test(`${kind}: a second rotation does not extend the first value`, async (t) => {
    const { clock, admin, gateway, statusWith } = await startWithClock(t, kind);
    const { id, value: first } = await createKey(gateway);
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

  test(`${kind}: deactivating a rotated key stops both values`, async (t) => {
    const { clock, admin, gateway, statusWith } = await startWithClock(t, kind);
    const { id, value: first } = await createKey(gateway);
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

  test(`${kind}: a key created and rotated in one millisecond shows the newest value`, async (t) => {
    const { admin, gateway } = await startWithClock(t, kind);
    for (let attempt = 0; attempt < 8; attempt++) {
      const { id } = await createKey(gateway);
      const { key, value } = await admin.keys.rotate.mutate({ id, overlapSeconds: 60 });
      t.is(key.maskedValue, `sk-gateway-…${value.slice(-4)}`);
    }
  });

  test(`${kind}: a key is refused from the moment it expires`, async (t) => {
    const { clock, admin, statusWith } = await startWithClock(t, kind);
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
}
