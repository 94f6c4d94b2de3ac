import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { makeEntity } from "../helpers/make-entity.ts";
import { spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  const shared = shareGateway({ kind });

  const addOwner = async (email: string, ...names: string[]) => {
    const { console } = await addPerson(shared(), email);
    for (const name of names) await console.keys.create.mutate({ name });
    return console;
  };

  test(`${kind}: two hundred keys are paged newest first, each once`, async (t) => {
    const { admin, services } = shared();
    const { keys } = admin;
    const { id: modelId } = await admin.models.get.query({ slug: "demo/echo" });
    const search = "paged key";
    // One transaction takes a fifth of the CPU time of two hundred calls.
    await services.database.write(async (repositories) => {
      for (let index = 0; index < 200; index++)
        await services.keys.createFirst(repositories, `${search} ${index}`, modelId);
    });

    const seen: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await keys.list.query({ search, cursor, limit: 45 });
      sizes.push(page.items.length);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      // A key created between two pages must not repeat or hide another key.
      if (sizes.length === 2) await keys.create.mutate({ name: `${search}, a latecomer` });
    } while (cursor !== null);

    t.deepEqual(sizes, [45, 45, 45, 45, 20]);
    t.is(new Set(seen).size, 200);
    t.deepEqual(seen, seen.toSorted().toReversed());
    const whole = await keys.list.query({ search, limit: 200 });
    t.deepEqual(
      whole.items.slice(1).map(({ id }) => id),
      seen.slice(0, 199),
    );
    t.is((await keys.list.query()).items.length, 50, "a page is 50 unless it is said");
  });

  test(`${kind}: keys are found by part of their name, case-insensitively`, async (t) => {
    const names = [
      "Production API",
      "production worker",
      "Staging",
      "Ärger",
      "100 %",
      "100_0",
      "a\\b",
      "it's",
    ];
    const { keys } = await addOwner("search@example.com", ...names);
    const find = async (search: string) =>
      (await keys.list.query({ search })).items.map(({ name }) => name).toSorted();

    t.deepEqual(await find("PRODuction"), ["Production API", "production worker"]);
    t.deepEqual(await find("worker"), ["production worker"]);
    t.deepEqual(await find("%"), ["100 %"], "no wildcard");
    t.deepEqual(await find("0_"), ["100_0"], "no wildcard");
    t.deepEqual(await find("a\\b"), ["a\\b"]);
    t.deepEqual(await find("it's"), ["it's"]);
    t.deepEqual(await find("nothing like it"), []);
    t.is((await find("")).length, names.length);
  });

  test(`${kind}: a key is found by a name of any letters`, async (t) => {
    const { keys } = await addOwner("letters@example.com", "Ärger", "ÉCOLE", "Москва", "ΑΘΗΝΑ");
    for (const search of ["Ärger", "ÉCOLE", "Москва", "ΑΘΗΝΑ", "ärger", "москва"]) {
      const { items } = await keys.list.query({ search });
      t.is(items.length, 1, search);
    }
  });

  test(`${kind}: keys are filtered by status`, async (t) => {
    const { keys } = await addOwner("status@example.com", "One", "Two", "Three");
    const { items } = await keys.list.query({ search: "two" });
    await keys.deactivate.mutate({ id: items[0]?.id ?? "" });
    const names = async (status: "active" | "disabled") =>
      (await keys.list.query({ status })).items.map(({ name }) => name);

    t.deepEqual(await names("disabled"), ["Two"]);
    t.deepEqual((await names("active")).toSorted(), ["One", "Three"]);
  });

  const addModel = async () => {
    const { id } = await makeEntity(shared().admin, "models.get");
    return (await shared().admin.models.get.query({ id })).slug;
  };

  test(`${kind}: the model filter finds the keys that may use it, counted by status`, async (t) => {
    const { keys, models } = shared().admin;
    const member = await addPerson(shared(), "filters@example.com");
    const [slug, unused] = [await addModel(), await addModel()];
    const both = await keys.create.mutate({ name: "Both", models: [slug, "demo/echo"] });
    const off = await keys.create.mutate({ name: "Off", models: [slug] });
    await keys.deactivate.mutate({ id: off.key.id });
    const own = await member.console.keys.create.mutate({ name: "Own", models: [slug] });
    await keys.create.mutate({ name: "Other", models: ["demo/echo"] });

    const ids = async (console: typeof member.console, query: object) =>
      (await console.keys.list.query(query)).items.map(({ id }) => id).toSorted();
    t.deepEqual(
      await ids(shared().admin, { modelSlug: slug }),
      [both.key.id, off.key.id, own.key.id].toSorted(),
    );
    t.deepEqual(await ids(shared().admin, { modelSlug: slug, status: "disabled" }), [off.key.id]);
    t.deepEqual(await ids(shared().admin, { modelSlug: slug, ownerId: member.id }), [own.key.id]);
    t.deepEqual(await ids(shared().admin, { modelSlug: slug, cursor: own.key.id, search: "both" }), [
      both.key.id,
    ]);
    for (const modelSlug of [unused, "demo/absent", "nonsense"]) {
      t.deepEqual(await ids(shared().admin, { modelSlug }), []);
      t.deepEqual(await keys.counts.query({ modelSlug }), { total: 0, active: 0, disabled: 0 });
    }
    t.deepEqual(await keys.counts.query({ modelSlug: slug }), { total: 3, active: 2, disabled: 1 });
    t.deepEqual(await keys.counts.query({ modelSlug: slug, search: "o" }), {
      total: 3,
      active: 2,
      disabled: 1,
    });
    t.deepEqual(await keys.counts.query({ modelSlug: slug, search: "BOTH" }), {
      total: 1,
      active: 1,
      disabled: 0,
    });

    t.deepEqual(await ids(member.console, { modelSlug: slug }), [own.key.id]);
    t.deepEqual(await member.console.keys.counts.query({ modelSlug: slug }), {
      total: 1,
      active: 1,
      disabled: 0,
    });
    const ada = await shared().admin.auth.me.query();
    t.deepEqual(await ids(member.console, { ownerId: ada.id }), []);
    t.deepEqual(await member.console.keys.counts.query({ ownerId: ada.id }), {
      total: 0,
      active: 0,
      disabled: 0,
    });

    t.is((await models.get.query({ slug })).keyCount, 3);
    t.is((await models.get.query({ slug: unused })).keyCount, 0);
    t.is((await member.console.models.get.query({ slug })).keyCount, 1, "of its own");
    const listed = await member.console.models.list.query({ search: slug });
    t.deepEqual(
      listed.map(({ keyCount }) => keyCount),
      [1],
    );
  });

  test(`${kind}: an administrator creates keys for others, a member only their own`, async (t) => {
    const { keys, audit } = shared().admin;
    const [bob, eve] = [
      await addPerson(shared(), "bob@example.com"),
      await addPerson(shared(), "eve@example.com"),
    ];
    const { key } = await keys.create.mutate({ name: "Bob's", ownerId: bob.id });
    t.deepEqual(key.owner, { id: bob.id, name: "bob@example.com" });
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

  test(`${kind}: models are found by name and provider, in pages`, async (t) => {
    const { models, providers } = shared().admin;
    const { id: providerId } = await providers.create.mutate({ name: "paged", kind: "demo" });
    const names = ["alpha", "beta", "BETA-2", "gamma_1", "gammax1"];
    for (const name of names)
      await models.create.mutate({ slug: `paged/${name}`, providerId, upstreamModel: "up" });
    const find = async (query: object) => (await models.list.query(query)).map(({ slug }) => slug);

    const all = await find({ providerId });
    t.is(all.length, 5);
    t.deepEqual(await find({ search: "paged/" }), all);
    t.deepEqual((await find({ search: "BETA", providerId })).toSorted(), ["paged/BETA-2", "paged/beta"]);
    t.deepEqual(await find({ search: "gamma_" }), ["paged/gamma_1"], "no wildcard");
    t.is((await find({ search: "up", providerId })).length, 5, "by the upstream's name too");
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await find({ providerId, search: "a", limit: 2, cursor });
      seen.push(...page);
      cursor = page.at(-1);
      if (page.length < 2) break;
    }
    t.deepEqual(seen, all);
    t.true((await find({})).includes("demo/echo"));
  });
}

test("a key in the list has the percentage of its fullest budget if that warns", async (t) => {
  const gateway = await startPriced(t, {});
  const { keys } = gateway.admin;
  const criteria = { name: "Spent", models: ["demo/echo"], limits: { budgetsUsd: { month: 0.01 } } };
  const { key, value } = await keys.create.mutate(criteria);
  await keys.create.mutate({ name: "Unlimited", models: ["demo/echo"] });
  const percents = async () => (await keys.list.query({})).items.map((item) => item.budgetSpentPercent);
  t.true((await percents()).every((percent) => percent === null));
  t.is((await spendCent(gateway, value)).status, 200);
  await eventually(async () => (await percents()).includes(100));
  await keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd: { month: 5 } } });
  t.true(
    (await percents()).every((percent) => percent === null),
    "little of the new budget is spent",
  );
});
