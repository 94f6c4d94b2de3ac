import test from "ava";
import { generateKeyValue } from "../../gateway/keys/key-value.ts";
import { assertError, serverError } from "../helpers/assert-error.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const unavailable = { ...serverError(503, "service_unavailable"), headers: { "retry-after": "1" } };

test("a frozen database serves known keys and calls no key invalid", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "1000" } });
  const known = await createKey(gateway);
  const unseen = await createKey(gateway);
  t.is((await postChat(gateway, known.value, chatBody("demo/echo"))).status, 200);

  const thaw = freeze(gateway);
  const answers = await Promise.all([
    postChat(gateway, known.value, chatBody("demo/echo")),
    postChat(gateway, unseen.value, chatBody("demo/echo")),
    postChat(gateway, generateKeyValue(gateway.services.runtime), chatBody("demo/echo")),
    fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${unseen.value}` } }),
    postChat(gateway, `${known.value.slice(0, -1)}!`, chatBody("demo/echo")),
    fetch(`${gateway.url}/readyz`),
  ]);
  thaw();

  t.is(answers[0].status, 200, "known");
  assertError(t, answers[1], unavailable);
  assertError(t, answers[2], unavailable);
  t.is(answers[3].status, 503);
  t.is(answers[4].status, 401, "what cannot be a key needs no database");
  t.is(answers[5].status, 200, "ready: known keys are served");

  t.is((await postChat(gateway, unseen.value, chatBody("demo/echo"))).status, 200, "after it");
  t.is((await usageOf(gateway, known.id)).length, 2, "no record is lost");
});

test("new requests are refused when usage can no longer be stored", async (t) => {
  const gateway = await startTestGateway(t, {
    environment: { DATABASE_TIMEOUT_MS: "1000", USAGE_SPOOL_BYTES_MAX: "1000" },
  });
  const key = await createKey(gateway);
  t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200);
  await gateway.services.recorder.flush();

  const thaw = freeze(gateway);
  const statuses: number[] = [];
  for (let sent = 0; sent < 2; sent++) {
    statuses.push((await postChat(gateway, key.value, chatBody("demo/echo"))).status);
  }
  const refused = await postChat(gateway, key.value, chatBody("demo/echo"));
  thaw();

  t.deepEqual(statuses, [200, 200]);
  assertError(t, refused, { ...unavailable, headers: { "retry-after": "5" } });
  t.is((await usageOf(gateway, key.id)).length, 3);
  t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200, "after it");
});

/** SQLite runs one operation at a time, so a pending one blocks all others like a frozen server. */
function freeze({ services: { database } }: TestGateway): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  database.read(() => promise).catch(() => {});
  return resolve;
}
