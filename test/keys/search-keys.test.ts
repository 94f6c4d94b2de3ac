import { randomBytes } from "node:crypto";
import test from "ava";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { generateKeyValue } from "../../gateway/keys/key-value.ts";

const unknownValue = generateKeyValue({ randomBytes });

for (const kind of databaseKinds) {
  test(`${kind}: a value, masked value, ending or ID finds its key`, async (t) => {
    const { admin } = await startTestGateway(t, { kind });
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
    const { admin, services } = await startTestGateway(t, { kind });
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
    const gateway = await startTestGateway(t, { kind });
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
