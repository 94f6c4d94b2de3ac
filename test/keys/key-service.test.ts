import { createHash } from "node:crypto";
import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { lockingKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const shared = shareGateway();

const statusWith = async (value: string, model = "demo/echo") =>
  (await postChat(shared(), value, chatBody(model))).status;

test("a new key works at once, and its value is shown only once", async (t) => {
  const { admin } = shared();
  const { key, value } = await admin.keys.create.mutate({ name: "  My laptop ", models: ["demo/echo"] });

  t.regex(value, /^sk-gateway-[0-9A-Za-z]{49}$/);
  t.like(key, {
    name: "My laptop",
    maskedValue: `sk-gateway-…${value.slice(-4)}`,
    status: "active",
    models: ["demo/echo"],
    lastUsedAt: null,
    expiresAt: null,
    owner: { name: "Ada" },
  });
  const answers = [await admin.keys.get.query({ id: key.id }), await admin.keys.list.query()];
  t.false(JSON.stringify(answers).includes(value));
  t.deepEqual(answers[0], key);
  t.is(await statusWith(value), 200);
});

test("only the SHA-256 of a key's value is stored, and nothing is logged", async (t) => {
  const { admin, environment, log } = shared();
  const created = await createKey(shared());
  const rotated = await admin.keys.rotate.mutate({ id: created.id, overlapSeconds: 60 });
  await statusWith(rotated.value);

  const dump = await dumpDatabase(environment["DATABASE_URL"] ?? "");
  for (const { value } of [created, rotated]) {
    t.true(dump.includes(createHash("sha256").update(value).digest("hex")));
    const secrets = { value, bareValue: value.slice("sk-gateway-".length) };
    t.deepEqual(findLeaks(dump, secrets), []);
    t.deepEqual(findLeaks(log.join(""), secrets), []);
  }
});

test("a key may use exactly its currently connected models", async (t) => {
  const { admin } = shared();
  const { id, value } = await createKey(shared(), []);
  t.is(await statusWith(value), 404);

  const connected = await admin.keys.setModels.mutate({ id, models: ["demo/echo", "demo/echo"] });
  t.deepEqual(connected.models, ["demo/echo"]);
  t.is(await statusWith(value), 200);

  const unknown = admin.keys.setModels.mutate({ id, models: ["demo/echo", "demo/none"] });
  t.like(await t.throwsAsync(unknown), { data: { code: "BAD_REQUEST", param: "models" } });
  t.is(await statusWith(value), 200, "a refused change changes nothing");

  await admin.keys.setModels.mutate({ id, models: [] });
  t.is(await statusWith(value), 404);
});

test("a deleted key never returns", async (t) => {
  const { admin } = shared();
  const { id, value } = await createKey(shared());
  t.is(await statusWith(value), 200);

  await admin.keys.delete.mutate({ id });

  t.is(await statusWith(value), 401);
  for (const call of [admin.keys.get.query({ id }), admin.keys.delete.mutate({ id })]) {
    t.like(await t.throwsAsync(call), { data: { code: "NOT_FOUND", param: "id" } });
  }
});

test("the last use of a key is recorded", async (t) => {
  const { admin, services } = shared();
  const { id, value } = await createKey(shared());
  const before = Date.now();
  await statusWith(value);
  await services.lastUsed.flush();

  const { lastUsedAt } = await admin.keys.get.query({ id });
  const usedAt = new Date(lastUsedAt ?? 0).getTime();
  t.true(usedAt >= before && usedAt <= Date.now());
});

test("a key with an unknown model is not created", async (t) => {
  const { admin } = shared();
  const name = "never made";
  const creation = admin.keys.create.mutate({ name, models: ["demo/none"] });
  t.like(await t.throwsAsync(creation), { data: { code: "BAD_REQUEST", param: "models" } });
  t.deepEqual((await admin.keys.list.query({ search: name })).items, []);
});

test("a member sees only their own keys in lists, searches and pages", async (t) => {
  const [bob, eve] = [
    await addPerson(shared(), "bob@example.com"),
    await addPerson(shared(), "eve@example.com"),
  ];
  const bobs = await bob.console.keys.create.mutate({ name: "Bob's" });
  const eves = await eve.console.keys.create.mutate({ name: "Eve's" });
  await createKey(shared());

  for (const query of [{}, { search: "'s" }, { status: "active" as const }, { cursor: "key_z" }]) {
    const { items } = await bob.console.keys.list.query(query);
    t.deepEqual(
      items.map(({ id }) => id),
      [bobs.key.id],
    );
  }
  t.deepEqual(bobs.key.owner, { id: bob.id, name: "bob@example.com" });
  t.is((await bob.console.keys.list.query({ cursor: eves.key.id, search: "Eve" })).items.length, 0);
});

test("an administrator creates keys for others, a member only their own", async (t) => {
  const { keys, audit } = shared().admin;
  const [bob, eve] = [
    await addPerson(shared(), "ben@example.com"),
    await addPerson(shared(), "ann@example.com"),
  ];
  const { key } = await keys.create.mutate({ name: "Bob's", ownerId: bob.id });
  t.deepEqual(key.owner, { id: bob.id, name: "ben@example.com" });
  t.is((await bob.console.keys.get.query({ id: key.id })).id, key.id);
  const { items } = await audit.list.query({ entityId: key.id });
  t.like(items[0], { actor: { name: "Ada" }, details: { owner: key.owner } });

  const absent = keys.create.mutate({ name: "Nobody's", ownerId: "usr_absent" });
  t.like(await t.throwsAsync(absent), { data: { code: "BAD_REQUEST", param: "ownerId" } });
  for (const ownerId of [bob.id, "usr_absent"]) {
    const foreign = eve.console.keys.create.mutate({ name: "Eve's", ownerId });
    t.like(await t.throwsAsync(foreign), { data: { code: "FORBIDDEN", param: "ownerId" } });
  }
  t.is((await eve.console.keys.create.mutate({ name: "Own", ownerId: eve.id })).key.owner?.id, eve.id);
  t.is((await bob.console.keys.counts.query()).total, 1);
});

test("an administrator sees and manages all keys", async (t) => {
  const { admin } = shared();
  const member = await addPerson(shared(), "carl@example.com");
  const { key } = await member.console.keys.create.mutate({ name: "Carl's" });

  t.deepEqual((await admin.keys.list.query({ search: "carl's" })).items[0]?.owner, {
    id: member.id,
    name: "carl@example.com",
  });
  const stopped = await admin.keys.deactivate.mutate({ id: key.id });
  t.is(stopped.owner?.id, member.id, "a key stays its owner's");
  t.is((await member.console.keys.get.query({ id: key.id })).status, "disabled");
});

for (const kind of lockingKinds) {
  // On MySQL, concurrent inserts after deletes can deadlock.
  test(`${kind}: many keys are created and changed at once`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { admin } = gateway;
    const keys = await Promise.all(Array.from({ length: 20 }, () => createKey(gateway)));
    const [first = { id: "" }] = keys;

    await Promise.all([
      ...keys.map(({ id }) => admin.keys.setModels.mutate({ id, models: ["demo/echo"] })),
      ...Array.from({ length: 10 }, () =>
        admin.keys.setModels.mutate({ id: first.id, models: ["demo/echo"] }),
      ),
      ...keys.map(({ id }) => admin.keys.rotate.mutate({ id })),
    ]);

    for (const { id } of keys) t.deepEqual((await admin.keys.get.query({ id })).models, ["demo/echo"]);
  });
}
