import { connect } from "node:net";
import { text } from "node:stream/consumers";
import test from "ava";
import { assertError } from "../helpers/assert-error.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareLimits } from "../helpers/share-limits.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway, usageOf } from "../helpers/test-gateway.ts";
import { addPerson } from "../helpers/call-procedure.ts";

const shared = shareLimits();

test.serial("a key from a foreign address is indistinguishable from an invalid key", async (t) => {
  const { gateway, upstream, model, keyWith } = shared();
  const prompt = "from here";
  upstream.scripts.set(prompt, (response) => sendCompletion(response));
  const key = await keyWith({ addressRanges: ["10.0.0.0/8", "2001:db8::/32"] });
  const error = { status: 401, type: "invalid_request_error", param: null, code: "invalid_api_key" };
  const refused = await postChat(gateway, key.value, chatBody(model.slug, prompt));
  const unknown = await postChat(gateway, "sk-gateway-wrong", chatBody(model.slug, prompt));
  t.is(assertError(t, refused, error), assertError(t, unknown, error));
  const list = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${key.value}` },
  });
  t.is(list.status, 401);
  t.like((await usageOf(gateway, key.id))[0], { httpStatus: 401, errorCode: "address_not_allowed" });
  await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { addressRanges: ["127.0.0.0/8"] } });
  t.is((await postChat(gateway, key.value, chatBody(model.slug, prompt))).status, 200);
});

test.serial("trusted proxies determine the client's address, and other headers are ignored", async (t) => {
  const gateway = await startTestGateway(t, { environment: { TRUSTED_PROXIES: "1" } });
  const { value } = await gateway.admin.keys.create.mutate({
    name: "Office",
    models: ["demo/echo"],
    limits: { addressRanges: ["10.0.0.0/8"] },
  });
  const statusOf = async (forwardedFor: string) => {
    const headers = { authorization: `Bearer ${value}`, "x-forwarded-for": forwardedFor };
    const asked = await postTo(gateway, "/v1/chat/completions", headers, chatBody("demo/echo", "x"));
    const listed = await fetch(`${gateway.url}/v1/models`, { headers });
    t.is(listed.status, asked.status);
    return asked.status;
  };
  t.is(await statusOf("10.1.2.3"), 200);
  t.is(await statusOf("192.0.2.1"), 401);
  t.is(await statusOf("10.1.2.3, 192.0.2.1"), 401, "the client's own word");
  t.is(await statusOf("192.0.2.1, 10.1.2.3"), 200);
});

test.serial("limits are set in part, shown, audited and enforced at once", async (t) => {
  const { gateway, keyWith } = shared();
  const { keys, audit } = gateway.admin;
  const { id, limits } = await keyWith({ requestsPerMinute: 5, budgetsUsd: { month: 12.5 } });
  t.like(limits, { requestsPerMinute: 5, tokensPerMinute: null, addressRanges: null });
  t.deepEqual(limits.budgetsUsd, { day: null, week: null, month: 12.5, total: null });
  const changed = await keys.setLimits.mutate({
    id,
    revision: 1,
    limits: { requestsPerMinute: null, tokensPerMinute: 1_000, budgetsUsd: { day: 0.000000001 } },
  });
  t.is(changed.revision, 2);
  t.deepEqual(changed.limits, {
    requestsPerMinute: null,
    tokensPerMinute: 1_000,
    concurrentRequests: null,
    budgetsUsd: { day: 1e-9, week: null, month: 12.5, total: null },
    addressRanges: null,
  });
  t.deepEqual((await keys.get.query({ id })).limits, changed.limits);
  const { items } = await audit.list.query({ entityId: id, action: "key.setLimits" });
  t.deepEqual(items[0]?.details["tokensPerMinute"], { from: null, to: 1_000 });
  const wrong = { id, limits: { addressRanges: ["10.0.0.0/33"] } };
  await t.throwsAsync(keys.setLimits.mutate(wrong), { message: /is not an IP address or range/ });
});

test.serial("the usage of each limit is visible to people who may see the key", async (t) => {
  const { gateway, upstream, model, keyWith } = shared();
  upstream.scripts.set("use it", (response) => sendCompletion(response));
  const prices = { input: 100_000, output: 0 };
  await gateway.admin.models.update.mutate({ slug: model.slug, prices });
  const { id, value } = await keyWith({
    requestsPerMinute: 10,
    tokensPerMinute: 1_000,
    budgetsUsd: { day: 0.5 },
  });
  await postChat(gateway, value, chatBody(model.slug, "use it"));
  await gateway.services.exchangeLimits();
  const usage = await gateway.admin.keys.usage.query({ id });
  t.deepEqual(usage.requestsPerMinute, { limit: 10, used: 1 });
  t.deepEqual(usage.tokensPerMinute, { limit: 1_000, used: 7 });
  t.deepEqual(usage.concurrentRequests, { limit: null, used: 0 });
  const [day, week, month, total] = usage.budgets;
  t.like(day, { period: "day", budgetUsd: 0.5, spentUsd: 0.5 });
  t.is(Date.parse(day?.endsAt ?? "") - Date.parse(day?.startsAt ?? ""), 86_400_000);
  t.like(week, { period: "week", budgetUsd: null, spentUsd: 0.5 });
  t.like(month, { period: "month", spentUsd: 0.5 });
  t.deepEqual(total, { period: "total", budgetUsd: null, spentUsd: 0.5, startsAt: null, endsAt: null });
  await eventually(async () => {
    const { warnings } = await gateway.admin.keys.usage.query({ id });
    return warnings[0]?.percent === 100 && warnings[0].period === "day";
  });
});

{
  const kind = databaseKinds.at(-1) ?? "sqlite";
  test(`${kind}: requests in flight finish while their key's budget is changed`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { key, value } = await gateway.admin.keys.create.mutate({
      name: "Laptop",
      models: ["demo/echo"],
      limits: { budgetsUsd: { day: 100 } },
    });
    const answers: string[] = [];
    for (let round = 0; round < 20; round++) {
      const requests = Array.from({ length: 20 }, () => beginRequest(gateway.url, value));
      // The other requests wait for their last byte, so they are still in flight.
      answers.push((await requests[0]?.end()) ?? "");
      const renaming = gateway.admin.keys.rename.mutate({ id: key.id, name: `Laptop ${round}` });
      const rest: Promise<string>[] = [];
      for (const request of requests.slice(1)) {
        rest.push(request.end());
        // Each round trip delays the next request's last byte, so requests end before, during and after the change.
        await (await fetch(`${gateway.url}/healthz`)).text();
      }
      answers.push(...(await Promise.all(rest)));
      await renaming;
    }
    t.deepEqual(
      answers.filter((answer) => answer !== "HTTP/1.1 200 OK"),
      [],
    );
  });
}

function beginRequest(url: string, keyValue: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify(chatBody("demo/echo", "word"));
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    `host: ${hostname}`,
    `authorization: Bearer ${keyValue}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, -1)}`);
  const answer = text(socket);
  return {
    async end(): Promise<string> {
      socket.write(body.slice(-1));
      return (await answer).split("\r\n")[0] ?? "";
    },
  };
}

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
    const { admin } = shared().gateway;
    const member = await addPerson(shared().gateway, `${name.replaceAll(" ", ".")}@example.com`);
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
  const member = await addPerson(shared().gateway, "strict@example.com");
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
  const { keys, audit } = shared().gateway.admin;
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
