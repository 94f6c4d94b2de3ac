import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import test, { type ExecutionContext } from "ava";
import { recomputeCosts } from "../../gateway/usage/history/recompute-costs.ts";
import { addModel, answersWith, type Script } from "../helpers/add-model.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// A call without a response costs nothing if no byte of the request was sent.
const shared = sharedByFile();
let gateway: TestGateway;
/** A gateway that shares the database of `gateway`, but must not call private addresses. */
let guarded: TestGateway;

test.before(async () => {
  gateway = await startTestGateway(shared);
  const { DATABASE_URL = "", DATA_DIR = "" } = gateway.environment;
  guarded = await startTestGateway(shared, {
    environment: { DATABASE_URL, DATA_DIR, UPSTREAM_PRIVATE_HOSTS: "" },
  });
});

async function pricedModel(
  t: ExecutionContext,
  where: { url: string } | Script,
  fallbacks: string[] = [],
): Promise<string> {
  const { slug } = await addModel(t, gateway, where, fallbacks);
  await gateway.admin.models.update.mutate({ slug, prices: { input: 3, output: 15 } });
  return slug;
}

async function recordOf(slug: string, at = gateway) {
  const { id, value } = await createKey(at, [slug]);
  const { status } = await postChat(at, value, chatBody(slug));
  const [record] = await usageOf(at, id);
  return { status, record };
}

/** Starts a server without TLS. Returns its port. */
async function plainServer(t: ExecutionContext, greeting: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(greeting);
  }).listen(0, "127.0.0.1");
  t.teardown(() => void server.close());
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

const places: [what: string, url: (t: ExecutionContext) => Promise<string>, isGuarded: boolean][] = [
  ["a refused connection", async () => "http://127.0.0.1:1", false],
  ["a host that is not found", async () => "http://no-such-host.invalid", false],
  ["a private address that is refused", async () => "http://127.0.0.1:1", true],
  [
    "TLS that fails",
    async (t) => `https://127.0.0.1:${await plainServer(t, "HTTP/1.1 400 No\r\n\r\n")}`,
    false,
  ],
];
for (const [what, url, isGuarded] of places) {
  test(`${what} costs nothing, also after a recomputation`, async (t) => {
    const at = isGuarded ? guarded : gateway;
    const slug = await pricedModel(t, { url: await url(t) });
    const { status, record } = await recordOf(slug, at);
    t.is(status, 502);
    t.like(record, {
      attempts: 1,
      errorCode: "upstream_error",
      cost: 0,
      inputTokens: null,
      inputPrice: null,
    });

    const { database } = at.services;
    const hour = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
    t.like(await recomputeCosts(database, { ...hour, model: slug }), [
      { records: 1, changed: 0, unknownAfter: 0 },
    ]);
  });
}

test("a connection that breaks after the request has an unknown cost", async (t) => {
  const slug = await pricedModel(t, (response) => void response.socket?.destroy());
  t.like((await recordOf(slug)).record, { attempts: 1, cost: null, inputPrice: 3e9 });
});

for (const status of [400, 429, 500, 503]) {
  test(`a provider that responds with HTTP ${status} costs nothing`, async (t) => {
    const slug = await pricedModel(t, answersWith(status));
    t.like((await recordOf(slug)).record, { attempts: 1, cost: 0, inputPrice: null });
  });
}

for (const status of [502, 504, 524]) {
  test(`a proxy that responds with HTTP ${status} leaves the cost unknown`, async (t) => {
    const slug = await pricedModel(t, answersWith(status));
    t.like((await recordOf(slug)).record, { attempts: 1, cost: null, inputPrice: 3e9 });
  });
}

test("two unreachable providers cost nothing", async (t) => {
  const other = await pricedModel(t, { url: "http://127.0.0.1:1" });
  const slug = await pricedModel(t, { url: "http://127.0.0.1:2" }, [other]);
  t.like((await recordOf(slug)).record, { attempts: 2, cost: 0 });
});

test("refusals and unreachable providers cost nothing together", async (t) => {
  const refusing = await pricedModel(t, answersWith(503));
  const away = await pricedModel(t, { url: "http://127.0.0.1:1" });
  const first = await pricedModel(t, answersWith(503), [away]);
  const last = await pricedModel(t, { url: "http://127.0.0.1:2" }, [refusing]);
  t.like((await recordOf(first)).record, { attempts: 2, cost: 0 });
  t.like((await recordOf(last)).record, { attempts: 2, cost: 0 });
});

test("the cost is unknown if one of two providers may have worked", async (t) => {
  const broken = await pricedModel(t, answersWith(504));
  const slug = await pricedModel(t, answersWith(503), [broken]);
  t.like((await recordOf(slug)).record, { attempts: 2, cost: null });
});

test("a client that leaves during the connect costs nothing", async (t) => {
  // The server accepts the connection and stays silent, so the TLS handshake never completes.
  const server = createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
  t.teardown(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const slug = await pricedModel(t, { url: `https://127.0.0.1:${port}` });
  const { id, value } = await createKey(gateway, [slug]);
  const leaving = new AbortController();
  const connected = once(server, "connection");
  const asked = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${value}`, "content-type": "application/json" },
    body: JSON.stringify(chatBody(slug)),
    signal: leaving.signal,
  }).catch(() => null);
  const [socket] = (await connected) as [Socket];
  t.teardown(() => socket.destroy());
  leaving.abort();
  await asked;
  const record = await eventually(async () => (await usageOf(gateway, id))[0] ?? false);
  t.like(record, { status: "CANCELLED", cost: 0, inputTokens: null, estimated: false });
});
