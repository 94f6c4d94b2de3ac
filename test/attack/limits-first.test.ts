import test from "ava";
import { createId } from "../../gateway/ids.ts";
import { createV1Router } from "../../gateway/v1/router.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import type { TestGateway } from "../helpers/test-gateway.ts";
import { countWork } from "./count-work.ts";
import { type LimitedTarget, limitedRoutes, openRoutes } from "./limited-routes.ts";

const gateway = shareGateway();
const model = "demo/echo";
const itemsMax = 5_000;
/** A kept response of 3 MB, and a limit far below for the work on a short request. */
const workBytesMax = 64 * 1024;

test("every route with a key has a row", (t) => {
  const { stack } = createV1Router({ ...gateway().services, trustedProxies: 0 });
  const served = stack.flatMap(({ route }) =>
    route && !openRoutes.includes(String(route.path))
      ? route.stack.flatMap(({ method }) => (method ? `${method} ${String(route.path)}` : []))
      : [],
  );
  const rows = limitedRoutes.map(({ name }) => name).filter((name) => !name.startsWith("WebSocket"));
  t.deepEqual(rows.toSorted(), served.toSorted());
});

for (const [limit, limits] of [
  ["requests", { requestsPerMinute: 1 }],
  ["tokens", { tokensPerMinute: 150 }],
] as const) {
  for (const { name, send } of limitedRoutes) {
    test.serial(`${name}: a key over its ${limit} per minute gets 429 before any work`, async (t) => {
      const target = await prepare(t, gateway(), limits);
      const body = { model, messages: [{ role: "user", content: "word ".repeat(90) }] };
      const first = await fetch(`${target.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${target.key}` },
        body: JSON.stringify(body),
      });
      t.is(first.status, 200);
      await first.arrayBuffer();
      const { result, workBytes } = await countWork(() => send(target));
      t.is(result, 429);
      t.true(workBytes < workBytesMax, String(workBytes));
    });
  }
}

for (const { name, send } of limitedRoutes.filter(({ name }) => /input_items|post .*responses/.test(name))) {
  test.serial(
    `${name}: the size of a kept response does not matter for an unknown model or a page`,
    async (t) => {
      const target = await prepare(t, gateway(), {});
      const { result, workBytes } = await countWork(() => send({ ...target, model: "demo/unknown" }));
      t.is(result, name.includes("input_items") ? 200 : 400);
      t.true(workBytes < workBytesMax, String(workBytes));
    },
  );
}

test.serial("routes without a model count as requests", async (t) => {
  for (const { name, send } of limitedRoutes.filter(({ name }) => !isModelRoute(name))) {
    const target = await prepare(t, gateway(), { requestsPerMinute: 1 });
    t.is(await send(target), 200, name);
    t.is(await send(target), 429, name);
  }
});

function isModelRoute(name: string): boolean {
  return /^WebSocket turn|^post (?!.*_tokens$)/.test(name);
}

async function prepare(
  t: Parameters<typeof openSocket>[0],
  { url, admin, services }: TestGateway,
  limits: { requestsPerMinute?: number; tokensPerMinute?: number },
): Promise<LimitedTarget> {
  const { key, value } = await admin.keys.create.mutate({ name: "Limited", models: [model], limits });
  const id = createId("req", services.runtime).replace("req", "resp");
  const input = Array.from({ length: itemsMax }, () => ({ role: "user", content: "x".repeat(600) }));
  const output = [{ type: "message", role: "assistant", content: "Yes" }];
  services.keptResponses?.keep(key.id, { response: { id }, output }, input);
  const socket = await openSocket(t, { url }, value);
  return { url, key: value, model, id, socket };
}
