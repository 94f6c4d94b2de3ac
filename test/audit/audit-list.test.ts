import test, { type ExecutionContext } from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { Browser } from "../helpers/browser.ts";
import { eventually } from "../helpers/eventually.ts";
import { type DatabaseKind, lockingKinds } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

/** Starts a gateway with a controlled clock that never repeats a time, because entries sort by time. */
async function start(t: ExecutionContext, kind: DatabaseKind, environment: Record<string, string> = {}) {
  const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
  const gateway = await startTestGateway(t, { kind, environment, runtime: { now: () => clock.now++ } });
  return { clock, gateway, audit: gateway.admin.audit, keys: gateway.admin.keys };
}

async function actionsOf({ admin }: TestGateway, query: object = {}): Promise<string[]> {
  return (await admin.audit.list.query(query)).items.map(({ action }) => action);
}

for (const kind of lockingKinds) {
  test(`${kind}: an entry contains the actor, action, time, target and previous state`, async (t) => {
    const { clock, gateway, audit, keys } = await start(t, kind);
    const { key } = await keys.create.mutate({ name: "Laptop", models: ["demo/echo"] });
    clock.now += 1_000;
    await keys.rename.mutate({ id: key.id, name: "Desktop" });
    clock.now += 1_000;
    await keys.setModels.mutate({ id: key.id, models: [] });

    const me = await gateway.admin.auth.me.query();
    const { items } = await audit.list.query({ entityId: key.id });
    t.like(items[1], {
      actor: { id: me.id, name: "Ada" },
      action: "key.rename",
      entity: { type: "key", id: key.id, name: "Desktop" },
      details: { from: "Laptop", to: "Desktop" },
    });
    t.regex(items[1]?.at ?? "", /^2026-06-01T12:00:01\.\d{3}Z$/);
    t.regex(items[1]?.address ?? "", /127\.0\.0\.1$/);
    t.deepEqual(items[0]?.details, {
      added: { count: 0, items: [] },
      removed: { count: 1, items: ["demo/echo"] },
    });
    t.like(items[2], { action: "key.create", entity: { name: "Laptop" } }, "under the name of the time");
    t.deepEqual(Object.keys(items[0] ?? {}).toSorted(), [
      "action",
      "actor",
      "address",
      "at",
      "details",
      "entity",
      "id",
    ]);
  });

  test(`${kind}: the log filters by actor, action, target and time, in pages`, async (t) => {
    const { clock, gateway, audit, keys } = await start(t, kind);
    const member = await addPerson(gateway, "member@example.com");
    const { key } = await member.console.keys.create.mutate({ name: "Own" });
    for (let hour = 0; hour < 5; hour++) {
      clock.now += 60_000;
      await keys.deactivate.mutate({ id: key.id });
      await keys.activate.mutate({ id: key.id });
    }

    t.deepEqual(await actionsOf(gateway, { actorId: member.id }), ["key.create", "user.join"]);
    t.is((await actionsOf(gateway, { action: "key.activate" })).length, 5);
    t.is((await actionsOf(gateway, { entityId: key.id })).length, 11);
    const from = "2026-06-01T12:02:00Z";
    t.is((await actionsOf(gateway, { from })).length, 8);
    t.is((await actionsOf(gateway, { from, to: "2026-06-01T12:04:00Z" })).length, 4, "its end is not in it");
    t.deepEqual(await actionsOf(gateway, { action: "model.delete" }), []);

    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await audit.list.query({ entityId: key.id, cursor, limit: 4 });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    t.is(seen.length, 11);
    t.deepEqual(seen, [...new Set(seen)].toSorted().toReversed());
    t.deepEqual(await actionsOf(gateway, { cursor: "zzz", limit: 1 }), ["key.activate"]);
    t.true((await audit.actions.query()).includes("key.activate"));
  });

  test(`${kind}: an entry outlives its target`, async (t) => {
    const { gateway, keys } = await start(t, kind);
    const { key } = await keys.create.mutate({ name: "Short-lived" });
    await keys.delete.mutate({ id: key.id });
    t.deepEqual(await actionsOf(gateway, { entityId: key.id }), ["key.delete", "key.create"]);
  });

  test(`${kind}: failed sign-ins are combined, and unknown addresses are not recorded`, async (t) => {
    const { gateway } = await start(t, kind);
    const member = await addPerson(gateway, "member@example.com");
    for (let guess = 0; guess < 12; guess++) {
      const from = `127.0.4.${guess + 1}`;
      await new Browser(gateway).signIn(member.email, "wrong password", from);
      await new Browser(gateway).signIn("nobody@example.com", "wrong password", from);
    }
    // The gateway does not wait for these writes, because the delay would reveal accounts.
    await eventually(async () => (await actionsOf(gateway, { action: "user.signInFailed" })).length === 2);
    const { items } = await gateway.admin.audit.list.query({ action: "user.signInFailed" });
    t.deepEqual(
      items.map(({ details, address }) => [details, address]),
      [
        [{ attempts: 10 }, "127.0.4.10"],
        [{ attempts: 1 }, "127.0.4.1"],
      ],
    );
    for (const { actor, entity } of items) {
      t.is(actor, null);
      t.deepEqual(entity, { type: "user", id: member.id, name: member.email });
    }
  });

  test(`${kind}: entries are deleted after the retention period`, async (t) => {
    const { clock, gateway, keys } = await start(t, kind, { AUDIT_RETENTION_DAYS: "30" });
    const { id } = (await keys.create.mutate({ name: "Old" })).key;
    clock.now += 29 * 86_400_000;
    const fresh = new Browser(gateway);
    await fresh.signIn("ada@example.com", "correct horse battery");
    t.is((await fresh.call("keys.deactivate", { input: { id } })).status, 200);
    clock.now += 2 * 86_400_000;
    await fresh.refresh();
    t.is((await fresh.call("keys.activate", { input: { id } })).status, 200);
    const { data } = await fresh.call("audit.list", { type: "query" });
    t.deepEqual(
      (data as { items: { action: string }[] }).items.map(({ action }) => action),
      ["key.activate", "key.deactivate", "user.signIn"],
    );
  });
}
