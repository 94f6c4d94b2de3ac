import test, { type ExecutionContext } from "ava";
import { auditEntries } from "../helpers/audit-entries.ts";
import { Browser } from "../helpers/browser.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { eventually } from "../helpers/eventually.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { linkToken } from "../helpers/link-token.ts";
import { type DatabaseKind, databaseKinds, lockingKinds } from "../helpers/test-database.ts";
import { administrator, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

/** Starts a gateway whose clock never repeats a time, because entries are sorted by IDs that contain the time. */
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
      "label",
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
    t.true((await audit.actions.query()).some(({ label }) => label === "Key activated"));
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
    // The gateway does not wait for these writes, because a delay would reveal which accounts exist.
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

for (const kind of databaseKinds) {
  test(`${kind}: the audit log contains no secret, and link tokens are stored nowhere`, async (t) => {
    const environmentKey = "sk-environment-canary-0123456789";
    const gateway = await startTestGateway(t, { kind, environment: { GROQ_API_KEY: environmentKey } });
    const { admin, url } = gateway;
    const providerKey = "sk-canary-of-a-provider-0123456789";
    const secondKey = "sk-canary-of-another-0123456789";
    const queryKey = "canary-in-a-query-0123456789";
    const { id } = await admin.providers.create.mutate({
      name: "canary",
      kind: "openai-compatible",
      baseUrl: `https://api.example.com/v1?key=${queryKey}`,
      apiKey: providerKey,
    });
    const two = await admin.providers.addCredential.mutate({ id, apiKey: secondKey });
    await admin.providers.removeCredential.mutate({ id, credentialId: two.credentials[1]?.id ?? "" });
    await admin.providers.update.mutate({ id, baseUrl: `https://eu.example.com/v1?key=${queryKey}` });
    await admin.providers.importFromEnvironment.mutate({ variables: ["GROQ_API_KEY"] });
    const made = await admin.keys.create.mutate({ name: "Canary" });
    const rotated = await admin.keys.rotate.mutate({ id: made.key.id });

    const invited = await admin.users.invite.mutate({ name: "Eve", email: "eve@example.com" });
    const member = await addPerson(gateway, "member@example.com");
    const newPassword = "canary of a new password";
    await member.console.auth.changePassword.mutate({ currentPassword: member.password, newPassword });
    const reset = await admin.users.resetPassword.mutate({ id: member.id });
    const wrongPassword = "canary of a wrong password";
    const wrong = { email: member.email, password: wrongPassword };
    t.is((await callProcedure({ url }, "auth.signIn", { input: wrong })).code, "UNAUTHORIZED");
    await admin.providers.delete.mutate({ id });
    await gateway.close();

    const secrets = {
      environmentKey,
      providerKey,
      secondKey,
      keyValue: made.value,
      rotatedValue: rotated.value,
      bareValue: rotated.value.slice("sk-gateway-".length),
      password: administrator.password,
      memberPassword: member.password,
      newPassword,
      wrongPassword,
      accessToken: member.accessToken,
      invitation: linkToken(invited.link),
      reset: linkToken(reset.link),
    };
    for (const [name, secret] of Object.entries(secrets)) t.true(secret.length > 10, name);
    const dump = await dumpDatabase(gateway.environment["DATABASE_URL"] ?? "");
    t.true(dump.includes("provider.importFromEnvironment") || dump.includes("provider.create"));
    t.deepEqual(findLeaks(dump + gateway.log.join("\n"), secrets), []);

    const again = await startTestGateway(t, { kind, environment: gateway.environment });
    const told = JSON.stringify(await auditEntries(again));
    t.true(told.includes("https://eu.example.com/v1"));
    t.deepEqual(findLeaks(told, { ...secrets, queryKey }), []);
  });
}
