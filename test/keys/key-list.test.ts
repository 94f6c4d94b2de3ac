import { randomBytes } from "node:crypto";
import test from "ava";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { makeEntity } from "../helpers/make-entity.ts";
import { spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { allDatabaseKinds, databaseKinds } from "../helpers/test-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { generateKeyValue } from "../../gateway/keys/key-value.ts";

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

  const counted = (total: number, active: number, disabled: number) => ({ total, active, disabled });
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
      t.deepEqual(await keys.counts.query({ modelSlug }), counted(0, 0, 0));
    }
    t.deepEqual(await keys.counts.query({ modelSlug: slug }), counted(3, 2, 1));
    t.deepEqual(await keys.counts.query({ modelSlug: slug, search: "o" }), counted(3, 2, 1));
    t.deepEqual(await keys.counts.query({ modelSlug: slug, search: "BOTH" }), counted(1, 1, 0));

    t.deepEqual(await ids(member.console, { modelSlug: slug }), [own.key.id]);
    t.deepEqual(await member.console.keys.counts.query({ modelSlug: slug }), counted(1, 1, 0));
    const ada = await shared().admin.auth.me.query();
    t.deepEqual(await ids(member.console, { ownerId: ada.id }), []);
    t.deepEqual(await member.console.keys.counts.query({ ownerId: ada.id }), counted(0, 0, 0));

    t.is((await models.get.query({ slug })).keyCount, 3);
    t.is((await models.get.query({ slug: unused })).keyCount, 0);
    t.is((await member.console.models.get.query({ slug })).keyCount, 1, "of its own");
    const listed = await member.console.models.list.query({ search: slug });
    t.deepEqual(
      listed.map(({ keyCount }) => keyCount),
      [1],
    );
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

const unknownValue = generateKeyValue({ randomBytes });

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });

  test(`${kind}: a value, masked value, ending or ID finds its key`, async (t) => {
    const { admin } = shared();
    const { key, value } = await admin.keys.create.mutate({ name: "Leaked" });
    await admin.keys.create.mutate({ name: "Other" });
    const lastFour = value.slice(-4);
    const searches = [
      [{ value }, "value"],
      [{ value: ` ${value}\n` }, "value"],
      [{ text: `OPENAI_API_KEY="${value}"` }, "value"],
      [{ text: key.maskedValue }, "lastFour"],
      [{ text: `sk-gateway-****${lastFour}` }, "lastFour"],
      [{ text: `...${lastFour}` }, "lastFour"],
      [{ text: lastFour }, "lastFour"],
      [{ text: key.id }, "id"],
    ] as const;
    for (const [search, by] of searches) {
      const found = await admin.keys.find.mutate(search);
      const match = { by, isOldValue: false, validUntil: null };
      t.deepEqual(found, { ...key, match, others: [] }, JSON.stringify(search));
    }
    for (const absent of [
      { value: unknownValue },
      { value: `${value}x` },
      { value: lastFour },
      { text: `${value}x` },
      { text: `${value.slice(0, -1)}_` },
      { text: "Leaked" },
      { text: "%" },
      { text: "key_00000000000000000000000000" },
    ]) {
      t.is(await admin.keys.find.mutate(absent), null, JSON.stringify(absent));
    }
  });

  test(`${kind}: an old value finds its key until it expires, and the match says so`, async (t) => {
    let now = Date.parse("2026-06-01T12:00:00Z");
    const { admin } = await startTestGateway(t, { kind, runtime: { now: () => now } });
    const { id, value } = await createKey({ admin });
    const rotated = await admin.keys.rotate.mutate({ id, overlapSeconds: 60 });

    const validUntil = "2026-06-01T12:01:00.000Z";
    for (const search of [{ value }, { text: value.slice(-4) }]) {
      t.like(await admin.keys.find.mutate(search), { id, match: { isOldValue: true, validUntil } });
    }
    t.like(await admin.keys.find.mutate({ value: rotated.value }), { id, match: { isOldValue: false } });
    now += 60_000;
    for (const search of [{ value }, { text: value.slice(-4) }]) {
      t.is(await admin.keys.find.mutate(search), null);
    }
    t.like(await admin.keys.find.mutate({ value: rotated.value }), { id });
  });

  test(`${kind}: keys with the same last characters are listed together, up to a bound`, async (t) => {
    const { admin, services } = shared();
    const ids: string[] = [];
    for (let number = 0; number < 25; number++) {
      const { key } = await admin.keys.create.mutate({ name: `Key ${number}` });
      ids.unshift(key.id);
      const value = { apiKeyId: key.id, lastFour: "aBcD", validUntil: null, createdAt: new Date() };
      await services.database.write(({ apiKeys }) =>
        apiKeys.replaceValue({ ...value, hash: String(number).padStart(64, "0") }, new Date(0)),
      );
    }
    const found = await admin.keys.find.mutate({ text: "aBcD" });
    t.deepEqual([found?.id, ...(found?.others.map(({ id }) => id) ?? [])], ids.slice(0, 20));
    t.is(await admin.keys.find.mutate({ text: "abcd" }), null, "the characters' case counts");
  });

  test(`${kind}: members find only their own keys`, async (t) => {
    const gateway = shared();
    const member = await addPerson(gateway, "member@example.com");
    const foreign = await createKey(gateway);
    const own = await createKey({ admin: member.console });
    const { find } = member.console.keys;
    for (const { id, value } of [foreign, own]) {
      for (const search of [{ value }, { text: value }, { text: value.slice(-4) }, { text: id }]) {
        const expected = id === own.id ? own.id : undefined;
        t.is((await find.mutate(search))?.id, expected, JSON.stringify(search));
        t.is((await gateway.admin.keys.find.mutate(search))?.id, id);
      }
    }
  });
}

test("a searched value is in no response, log line, audit entry or metric", async (t) => {
  const gateway = await startTestGateway(t, { environment: { LOG_LEVEL: "debug", METRICS_PORT: "0" } });
  const { admin, accessToken, log } = gateway;
  const { value, id } = await createKey(gateway);
  const secrets = { value, bare: value.slice("sk-gateway-".length), unknownValue };
  const texts: string[] = [];
  const call = async (input: unknown, options: object = {}) => {
    const answer = await callProcedure(gateway, "keys.find", { input, accessToken, ...options });
    texts.push(answer.text, JSON.stringify(answer.headers));
    return answer;
  };

  t.is(((await call({ value })).data as { id: string }).id, id);
  t.is((await call({ value: unknownValue })).data, null);
  t.is((await call({ text: value })).status, 200);
  for (const wrong of [
    { value, text: value },
    { value: [value] },
    { [value]: value },
    value,
    { text: value.repeat(99) },
  ]) {
    t.is((await call(wrong)).code, "BAD_REQUEST");
  }
  t.is((await call({ value }, { accessToken: undefined })).code, "UNAUTHORIZED");
  t.is((await call({ value }, { type: "query" })).code, "METHOD_NOT_SUPPORTED", "no URL can carry the value");
  const audit = JSON.stringify(await admin.audit.list.query({}));
  t.false(audit.includes("key.find"), "a search changes nothing");
  const metrics = await (await fetch(gateway.metricsUrl ?? "")).text();
  t.true(metrics.length > 0);
  for (const text of [...texts, audit, metrics, log.join("")]) t.deepEqual(findLeaks(text, secrets), []);
});
