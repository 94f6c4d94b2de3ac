import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import test from "ava";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

test("a model removed from a key is refused even if the body is still arriving", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const body = JSON.stringify({ model: "demo/echo", messages: [{ role: "user", content: "Hello" }] });
  const outgoing = request(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.value}`, "content-length": body.length },
  });
  const answered = once(outgoing, "response");
  outgoing.write(body.slice(0, 10));
  while (gateway.services.openExchanges.keyIds().length === 0) await new Promise(setImmediate);

  await gateway.admin.keys.setModels.mutate({ id: key.id, models: [] });
  outgoing.end(body.slice(10));

  const [response] = (await answered) as [IncomingMessage];
  t.is(response.statusCode, 404);
  t.is(JSON.parse(await text(response)).error.code, "model_not_found");
});
