import test, { type ExecutionContext } from "ava";
import { createCannedUpstream } from "../bench/canned-upstreams.ts";
import { type MeasuredProcess, startProcess } from "../bench/measured-process.ts";
import { setUpGateway } from "../bench/set-up-gateway.ts";
import { responsesClient } from "../helpers/responses-client.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { administrator, type createConsoleClient, signIn } from "../helpers/test-gateway.ts";
import { type LimitedRoute, type LimitedTarget, limitedRoutes } from "./limited-routes.ts";
import type { WatchedGateway } from "./watched-gateway.ts";

const model = "bench/model";
const requestsPerRow = isFull ? 200 : 40;
const shared = sharedByFile();
let gateway: MeasuredProcess<WatchedGateway>;
let targets: { small: LimitedTarget; large: LimitedTarget };
let admin: ReturnType<typeof createConsoleClient>;
let keyId = "";

test.before(async () => {
  gateway = startProcess<WatchedGateway>("../attack/watched-gateway.ts");
  shared.teardown(() => gateway.stop());
  const { port: upstreamPort } = await createCannedUpstream(shared);
  const { url, setUpToken } = await gateway.ask("start", upstreamPort);
  await setUpGateway(url, setUpToken ?? "", upstreamPort);
  admin = await signIn(url, administrator);
  const { key, value } = await admin.keys.create.mutate({ name: "Limited", models: [model] });
  keyId = key.id;
  const client = responsesClient({ url }, value);
  const socket = await openSocket(shared, { url }, value);
  const keep = async (itemCount: number) => {
    const input = Array.from({ length: itemCount }, () => ({ role: "user", content: "x".repeat(610) }));
    const { id } = await client.create({ model, input });
    return { url, key: value, model, id, socket };
  };
  targets = { small: await keep(11), large: await keep(11_000) };
});

test.serial("over a key's limit, a request costs less than 5 ms of CPU on every route", async (t) => {
  await exhaust(t);
  const slow: string[] = [];
  const measured: Record<string, string> = {};
  for (const route of limitedRoutes) {
    const cpuMs = await measure(t, route, targets.large, [429]);
    measured[route.name] = cpuMs.toFixed(2);
    if (cpuMs >= 5) slow.push(`${route.name}: ${cpuMs.toFixed(1)} ms`);
  }
  t.log(figures("CPU ms of a refused request", measured));
  t.deepEqual(slow, []);
});

test.serial("a reference to 7 MB costs less than three times one to 7 KB", async (t) => {
  // Other requests send, count or copy the conversation once they are admitted.
  const isIndependent = /input_items|^get .*:id/;
  const slow: string[] = [];
  for (const limited of [true, false]) {
    const rows = limitedRoutes.filter(({ name }) =>
      limited ? /responses|WebSocket/.test(name) : isIndependent.test(name),
    );
    for (const route of rows) {
      await (limited ? exhaust(t) : allow());
      const statuses = limited ? [429] : [200];
      const small = await measure(t, route, targets.small, statuses);
      const large = await measure(t, route, targets.large, statuses);
      t.log(figures(`${route.name}, ${statuses[0]}`, { small: small.toFixed(2), large: large.toFixed(2) }));
      // Below a millisecond, the ratio is chance.
      if (large >= 3 * Math.max(small, 0.5))
        slow.push(`${route.name}: ${small.toFixed(2)}, ${large.toFixed(2)} ms`);
    }
  }
  t.deepEqual(slow, []);
});

/** Returns the CPU time of the gateway's process for a request. */
async function measure(
  t: ExecutionContext,
  { name, send }: LimitedRoute,
  target: LimitedTarget,
  statuses: number[],
): Promise<number> {
  t.timeout(600_000);
  for (let index = 0; index < 5; index++) await send(target);
  const before = await gateway.ask("cpu");
  for (let index = 0; index < requestsPerRow; index++) t.deepEqual([await send(target)], statuses, name);
  return ((await gateway.ask("cpu")) - before) / 1_000 / requestsPerRow;
}

async function exhaust(t: ExecutionContext): Promise<void> {
  await admin.keys.setLimits.mutate({ id: keyId, limits: { requestsPerMinute: 1 } });
  const [models] = limitedRoutes.filter(({ name }) => name === "get /v1/models");
  if (!models) return t.fail();
  // The limit applies within a second.
  while ((await models.send(targets.small)) !== 429);
}

async function allow(): Promise<void> {
  await admin.keys.setLimits.mutate({ id: keyId, limits: { requestsPerMinute: null } });
  for (const { name, send } of limitedRoutes) {
    if (name === "get /v1/models") while ((await send(targets.small)) !== 200);
  }
}
