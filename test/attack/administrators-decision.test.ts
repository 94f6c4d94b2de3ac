import test, { type ExecutionContext } from "ava";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { runBeforeLock } from "../helpers/run-before-lock.ts";
import { isFull } from "../helpers/scale.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";

const kept = "demo/echo";
const taken = "demo/second";
const decided = { status: "disabled", disabledBy: "admin", models: [kept], withheldModels: [taken] } as const;

type Role = "admin" | "owner" | "other";

const attempts = [
  { name: "activate", isUndoing: true },
  { name: "setModels", input: { models: [kept, taken] }, isUndoing: true },
  { name: "setModels", input: { models: [kept] } },
  { name: "setLimits", input: { limits: { requestsPerMinute: 5 } } },
  { name: "rename", input: { name: "Renamed" } },
  { name: "rotate" },
  { name: "deactivate" },
  { name: "delete" },
];

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });
  let people: Record<Role, Awaited<ReturnType<typeof addPerson>>>;
  test.before(async () => {
    const gateway = shared();
    await addModel(taken);
    people = {
      admin: await addPerson(gateway, "administrator@example.com", "admin"),
      owner: await addPerson(gateway, "owner@example.com"),
      other: await addPerson(gateway, "other@example.com"),
    };
  });

  async function addModel(slug: string) {
    const { models, providers } = shared().admin;
    const demo = (await providers.list.query()).find(({ name }) => name === "demo");
    await models.create.mutate({ slug, providerId: demo?.id ?? "", upstreamModel: "echo" });
  }

  const call = (role: Role, name: string, input: object) =>
    callProcedure(shared(), `keys.${name}`, { input, accessToken: people[role].accessToken });
  const keyNow = (id: string) => shared().admin.keys.get.query({ id });
  const statusOf = async (value: string, model: string) =>
    (await postChat(shared(), value, chatBody(model))).status;

  async function createKey({ ownerId = people.owner.id, models = [kept, taken] } = {}) {
    const { key, value } = await shared().admin.keys.create.mutate({ name: "A key", ownerId, models });
    return { id: key.id, value };
  }

  /** Returns a key that was deactivated and lost a model. */
  async function createDecided(by: "admin" | "owner") {
    const { id, value } = await createKey();
    const { keys } = people[by].console;
    await keys.setModels.mutate({ id, models: [kept] });
    await keys.deactivate.mutate({ id });
    return { id, value };
  }

  async function assertForbidden(t: ExecutionContext, calling: ReturnType<typeof call>, message: RegExp) {
    const { status, code, error } = await calling;
    t.deepEqual([status, code], [403, "FORBIDDEN"]);
    t.regex(error?.message ?? "", message);
  }

  for (const [role, title] of [
    ["admin", "another administrator undoes an administrator's decision"],
    ["owner", "an owner cannot undo an administrator's decision"],
    ["other", "another member cannot find a key that an administrator deactivated"],
  ] as const) {
    test(`${kind}: ${title}`, async (t) => {
      for (const { name, input, isUndoing = false } of attempts) {
        const { id } = await createDecided("admin");
        const before = await keyNow(id);
        t.like(before, decided);
        const { code = "OK" } = await call(role, name, { id, ...input });
        const expected = role === "other" ? "NOT_FOUND" : role === "owner" && isUndoing ? "FORBIDDEN" : "OK";
        t.is(code, expected, `${role} ${name}`);
        if (code !== "OK") t.deepEqual(await keyNow(id), before, `${role} ${name}`);
        else if (name !== "delete" && !isUndoing) t.like(await keyNow(id), decided, `${role} ${name}`);
      }
    });
  }

  test(`${kind}: an owner reverts their own changes to their key`, async (t) => {
    for (const { name, input } of attempts) {
      const { id } = await createDecided("owner");
      t.like(await keyNow(id), { status: "disabled", disabledBy: "owner", withheldModels: [] });
      t.is((await call("other", name, { id, ...input })).code, "NOT_FOUND", name);
      t.is((await call("owner", name, { id, ...input })).code, undefined, name);
    }
    const { id, value } = await createDecided("owner");
    await call("owner", "activate", { id });
    await call("owner", "setModels", { id, models: [kept, taken] });
    t.like(await keyNow(id), { status: "active", disabledBy: null, models: [kept, taken] });
    t.is(await statusOf(value, kept), 200);
  });

  test(`${kind}: the refusal names who decided and what to do`, async (t) => {
    const { id } = await createDecided("admin");
    const activating = call("owner", "activate", { id });
    await assertForbidden(t, activating, /^An administrator deactivated this key\. Ask an administrator/);
    const connecting = call("owner", "setModels", { id, models: [taken] });
    await assertForbidden(t, connecting, /^An administrator removed demo\/second from this key\. Ask/);
    t.is((await connecting).error?.data.param, "models");
  });

  test(`${kind}: an administrator reverts both changes, and the owner decides again`, async (t) => {
    const { id, value } = await createDecided("admin");
    const { keys } = people.admin.console;
    await keys.activate.mutate({ id });
    await keys.setModels.mutate({ id, models: [kept, taken] });
    t.like(await keyNow(id), { status: "active", disabledBy: null, withheldModels: [] });
    t.is(await statusOf(value, taken), 200);
    for (const models of [[kept], [kept, taken]]) {
      t.is((await call("owner", "setModels", { id, models })).code, undefined);
    }
    for (const name of ["deactivate", "activate"]) t.is((await call("owner", name, { id })).code, undefined);
    t.is(await statusOf(value, taken), 200);
  });

  for (const order of [
    ["owner", "admin"],
    ["admin", "owner"],
  ] as const) {
    test(`${kind}: a key deactivated by ${order.join(" and ")} stays deactivated`, async (t) => {
      const { id } = await createKey();
      for (const role of order) await people[role].console.keys.deactivate.mutate({ id });
      await assertForbidden(t, call("owner", "activate", { id }), /An administrator deactivated/);
    });
  }

  test(`${kind}: a rotated key stays deactivated and keeps its models withheld`, async (t) => {
    const { id, value } = await createDecided("admin");
    const rotated = await people.owner.console.keys.rotate.mutate({ id });
    for (const each of [value, rotated.value]) t.is(await statusOf(each, kept), 401);
    await people.admin.console.keys.activate.mutate({ id });
    for (const each of [value, rotated.value]) {
      t.deepEqual([await statusOf(each, kept), await statusOf(each, taken)], [200, 404]);
    }
  });

  test(`${kind}: a withheld model stays withheld after it is deleted and added again`, async (t) => {
    const { admin } = shared();
    const slug = "demo/again";
    await addModel(slug);
    const { id } = await createKey({ models: [kept, slug] });
    await admin.keys.setModels.mutate({ id, models: [kept] });
    await admin.models.delete.mutate({ slug });
    await addModel(slug);
    t.deepEqual((await keyNow(id)).withheldModels, [slug]);
    await assertForbidden(t, call("owner", "setModels", { id, models: [slug] }), /removed demo\/again/);
  });

  test(`${kind}: a decision outlasts the administrator who made it`, async (t) => {
    const decider = await addPerson(shared(), `decider-${kind}@example.com`, "admin");
    const { id } = await createKey();
    await decider.console.keys.deactivate.mutate({ id });
    await shared().admin.users.setRole.mutate({ id: decider.id, role: "member" });
    await assertForbidden(t, call("owner", "activate", { id }), /An administrator deactivated/);
    await shared().admin.users.disable.mutate({ id: decider.id });
    await assertForbidden(t, call("owner", "activate", { id }), /An administrator deactivated/);
  });

  test(`${kind}: a role change also applies to the person's own keys`, async (t) => {
    const { admin } = shared();
    const person = await addPerson(shared(), `changing-${kind}@example.com`, "admin");
    const [own, foreign] = [await createKey({ ownerId: person.id }), await createKey({ ownerId: person.id })];
    const { keys } = person.console;
    await keys.deactivate.mutate({ id: own.id });
    await keys.setModels.mutate({ id: own.id, models: [kept] });
    await admin.keys.deactivate.mutate({ id: foreign.id });
    await keys.deactivate.mutate({ id: foreign.id });
    t.like(await keyNow(own.id), { disabledBy: "owner", withheldModels: [] });

    await admin.users.setRole.mutate({ id: person.id, role: "member" });
    t.is((await keys.activate.mutate({ id: own.id })).status, "active");
    const { models } = await keys.setModels.mutate({ id: own.id, models: [kept, taken] });
    t.deepEqual(models, [kept, taken]);
    const activating = keys.activate.mutate({ id: foreign.id });
    t.like(await t.throwsAsync(activating), { data: { code: "FORBIDDEN" } });

    await admin.users.setRole.mutate({ id: person.id, role: "admin" });
    t.is((await keys.activate.mutate({ id: foreign.id })).status, "active");
  });

  test(`${kind}: an owner activates a key that was deactivated by an unknown person`, async (t) => {
    const { id, value } = await createDecided("admin");
    await shared().services.database.write(({ apiKeys }) => apiKeys.update(id, { disabledBy: null }));
    t.is((await call("owner", "activate", { id })).code, undefined);
    t.is(await statusOf(value, kept), 200);
  });

  test(`${kind}: the audit log records changes and omits refused calls`, async (t) => {
    const { id } = await createDecided("admin");
    await call("owner", "activate", { id });
    await call("owner", "setModels", { id, models: [taken] });
    await people.admin.console.keys.activate.mutate({ id });
    const { items } = await shared().admin.audit.list.query({ entityId: id });
    t.deepEqual(
      items.map(({ action, actor }) => [action, actor?.id]).slice(0, 3),
      ["key.activate", "key.deactivate", "key.setModels"].map((action) => [action, people.admin.id]),
    );
    t.deepEqual(items[2]?.details, { added: { count: 0, items: [] }, removed: { count: 1, items: [taken] } });
    t.is(items.length, 4, "with its creation");
  });

  test(`${kind}: an administrator's decision beats a simultaneous one of the owner`, async (t) => {
    for (let round = 0; round < (isFull ? 200 : 10); round++) {
      const { id } = await createKey();
      await people.owner.console.keys.deactivate.mutate({ id });
      await Promise.all([
        call("owner", "activate", { id }),
        call("owner", "setModels", { id, models: [kept, taken] }),
        call("admin", "deactivate", { id }),
        call("admin", "setModels", { id, models: [kept] }),
        call("owner", "activate", { id }),
        call("owner", "setModels", { id, models: [kept, taken] }),
      ]);
      t.like(await keyNow(id), decided);
    }
  });

  // SQLite runs one transaction at a time, so no other transaction can intervene.
  const testThere = kind === "sqlite" ? () => {} : test.serial;
  for (const { name, input } of attempts.filter(({ isUndoing }) => isUndoing)) {
    testThere(`${kind}: ${name} checks the key after the row lock`, async (t) => {
      const { id } = await createKey();
      await people.owner.console.keys.deactivate.mutate({ id });
      runBeforeLock(shared(), async () => {
        t.is((await call("admin", "deactivate", { id })).code, undefined);
        t.is((await call("admin", "setModels", { id, models: [kept] })).code, undefined);
      });
      t.is((await call("owner", name, { id, ...input })).code, "FORBIDDEN");
      t.like(await keyNow(id), decided);
    });
  }
}
