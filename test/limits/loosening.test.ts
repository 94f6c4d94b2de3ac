import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const shared = shareGateway();
const day = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString();

const limits = {
  requestsPerMinute: 60,
  budgetsUsd: { month: 20 },
  addressRanges: ["10.0.0.0/8", "::1"],
};

for (const [name, edit] of [
  ["a higher limit", { limits: { requestsPerMinute: 61 } }],
  ["a missing limit", { limits: { requestsPerMinute: null } }],
  ["a larger budget", { limits: { budgetsUsd: { month: 20.01 } } }],
  ["a missing budget", { limits: { budgetsUsd: { month: null } } }],
  ["another address", { limits: { addressRanges: ["10.0.0.0/8", "192.0.2.1"] } }],
  ["any address", { limits: { addressRanges: null } }],
  ["a later expiry", { expiresAt: inDays(31) }],
  ["a missing expiry", { expiresAt: null }],
] as const) {
  test(`a member cannot set ${name} on their own key, an administrator can`, async (t) => {
    const { admin } = shared();
    const member = await addPerson(shared(), `${name.replaceAll(" ", ".")}@example.com`);
    const criteria = { name: "K", limits: { ...limits, addressRanges: [...limits.addressRanges] } };
    const { key } = await admin.keys.create.mutate({
      ...criteria,
      expiresAt: inDays(30),
      ownerId: member.id,
    });
    const change = { id: key.id, ...structuredClone(edit) } as Parameters<
      typeof admin.keys.setLimits.mutate
    >[0];
    await t.throwsAsync(member.console.keys.setLimits.mutate(change), { message: /Only an administrator/ });
    t.is((await admin.keys.get.query({ id: key.id })).revision, 1);
    t.is((await admin.keys.setLimits.mutate(change)).revision, 2);
  });
}

test("a member can lower an administrator's raised limit, also to the default", async (t) => {
  const gateway = await startTestGateway(t, { environment: { KEY_REQUESTS_PER_MINUTE_MAX: "10" } });
  const member = await addPerson(gateway, "lower@example.com");
  const criteria = { name: "K", ownerId: member.id, limits: { requestsPerMinute: 20 } };
  const { key } = await gateway.admin.keys.create.mutate(criteria);
  const set = async (requestsPerMinute: number | null) =>
    (await member.console.keys.setLimits.mutate({ id: key.id, limits: { requestsPerMinute } })).limits;
  t.is((await set(15)).requestsPerMinute, 15);
  await t.throwsAsync(set(16), { message: /Only an administrator/ });
  t.is((await set(null)).requestsPerMinute, null);
  await t.throwsAsync(set(11), { message: /Only an administrator/ });
  t.is((await set(9)).requestsPerMinute, 9);
  await t.throwsAsync(set(null), { message: /Only an administrator/ });
});

test("a member can tighten their own limits", async (t) => {
  const member = await addPerson(shared(), "strict@example.com");
  const { key } = await member.console.keys.create.mutate({ name: "K" });
  const { keys } = member.console;
  const first = await keys.setLimits.mutate({ id: key.id, limits, expiresAt: inDays(30) });
  t.is(first.limits.requestsPerMinute, 60);
  const second = await keys.setLimits.mutate({
    id: key.id,
    limits: {
      requestsPerMinute: 6,
      tokensPerMinute: 5,
      budgetsUsd: { month: 1, day: 1 },
      addressRanges: ["::1"],
    },
    expiresAt: inDays(3),
  });
  t.deepEqual([second.limits.requestsPerMinute, second.limits.addressRanges], [6, ["::1"]]);
  const unchanged = { id: key.id, limits: { ...second.limits, budgetsUsd: {} } };
  t.is((await keys.setLimits.mutate(unchanged)).revision, 4);
});

test("the gateway's defaults are an upper bound for members", async (t) => {
  const gateway = await startTestGateway(t, { environment: { KEY_TOKENS_PER_MINUTE_MAX: "1000" } });
  const { keys } = (await addPerson(gateway, "bob@example.com")).console;
  const criteria = (tokensPerMinute: number) => ({ name: "K", limits: { tokensPerMinute } });
  await t.throwsAsync(keys.create.mutate(criteria(1_001)), { message: /Only an administrator/ });
  const { key } = await keys.create.mutate(criteria(1_000));
  await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { tokensPerMinute: 2_000 } });
  const kept = { id: key.id, limits: { tokensPerMinute: 2_000, requestsPerMinute: 5 } };
  t.is(
    (await keys.setLimits.mutate(kept)).limits.tokensPerMinute,
    2_000,
    "what an administrator allowed stays",
  );
});

test("a key's expiry can change, but not to the past, and the change is audited", async (t) => {
  const { keys, audit } = shared().admin;
  const { key } = await keys.create.mutate({ name: "K" });
  const end = inDays(5);
  t.is((await keys.setLimits.mutate({ id: key.id, expiresAt: end })).expiresAt, end);
  const { items } = await audit.list.query({ entityId: key.id, action: "key.setLimits" });
  t.deepEqual(items[0]?.details["expiresAt"], { from: null, to: end });
  await t.throwsAsync(keys.setLimits.mutate({ id: key.id, expiresAt: inDays(-1) }), {
    message: /in the past/,
  });
  t.is((await keys.setLimits.mutate({ id: key.id, limits: {} })).expiresAt, end);
  t.is((await keys.setLimits.mutate({ id: key.id, expiresAt: null })).expiresAt, null);
});
