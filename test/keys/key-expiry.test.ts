import test, { type ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { beginStream, chunkEvent, createUpstream } from "../helpers/scripted-upstream.ts";
import { startTestGateway, usageOf } from "../helpers/test-gateway.ts";

test("a stream ends when its key expires, and frees the upstream", async (t) => {
  const { gateway, clock, expiring, lasting, upstream } = await startWithExpiry(t);
  const ended = openChat(gateway, expiring.value, chatBody("test/model", "Hi", { stream: true }));
  const going = openChat(gateway, lasting.value, chatBody("test/model", "Hi", { stream: true }));
  await Promise.all([ended.received("Hel"), going.received("Hel")]);

  clock.now += 60_000;
  await ended.received("The API key is invalid");

  const [record] = await usageOf(gateway, expiring.id);
  t.like(record, { status: "FAILED", errorCode: "invalid_api_key" });
  await eventually(() => upstream.sockets.size === 1);
  t.deepEqual(gateway.services.openExchanges.keyIds(), [lasting.id]);
  going.request.destroy();
});

test("a turn on a WebSocket ends when its key expires", async (t) => {
  const { gateway, clock, expiring } = await startWithExpiry(t);
  const socket = await openSocket(t, gateway, expiring.value);
  socket.send({ type: "response.create", model: "test/model", input: "Hi" });
  await socket.until(() => socket.frames.find(({ delta }) => delta === "Hel"));

  clock.now += 60_000;
  const failed = await socket.until(() => socket.frames.find(({ type }) => type === "response.failed"));

  t.is(failed.response?.status, "failed");
  const [record] = await usageOf(gateway, expiring.id);
  t.like(record, { status: "FAILED", errorCode: "invalid_api_key" });
});

async function startWithExpiry(t: ExecutionContext) {
  const clock = { now: Date.now() };
  const upstream = await createUpstream(t, (_, response) => {
    beginStream(response);
    response.write(chunkEvent("Hel"));
  });
  const gateway = await startTestGateway(t, { runtime: { now: () => clock.now } });
  const lasting = await connectUpstream(gateway, upstream);
  const expiresAt = new Date(clock.now + 60_000).toISOString();
  const created = await gateway.admin.keys.create.mutate({ name: "K", models: ["test/model"], expiresAt });
  const expiring = { id: created.key.id, value: created.value };
  return { gateway, clock, upstream, lasting, expiring };
}
