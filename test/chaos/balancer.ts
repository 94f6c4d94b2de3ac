import { connect, createServer, type Socket } from "node:net";
import type { ExecutionContext } from "ava";
import { listen } from "../helpers/listen.ts";

/**
 * A minimal TCP balancer. A connection goes to the next backend whose last `/readyz` check returned 200. The balancer
 * never retries, so every backend failure reaches a client.
 */
export async function startBalancer(t: Pick<ExecutionContext, "teardown">): Promise<Balancer> {
  const backends = new Map<string, boolean>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const ready = [...backends].filter(([, isReady]) => isReady).map(([url]) => url);
    const url = ready[turn++ % ready.length];
    if (url === undefined) return void client.destroy();
    const backend = connect({ host: "127.0.0.1", port: Number(new URL(url).port), allowHalfOpen: true });
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroySoon();
      });
    }
  });
  const look = async (url: string) => {
    const answer = await fetch(`${url}/readyz`, { headers: { connection: "close" } }).catch(() => null);
    if (backends.has(url)) backends.set(url, answer?.status === 200);
  };
  const timer = setInterval(() => {
    for (const url of backends.keys()) void look(url);
  }, lookIntervalMs);
  t.teardown(() => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${await listen(t, server)}`,
    async add(url) {
      backends.set(url, false);
      await look(url);
    },
    remove: (url) => void backends.delete(url),
  };
}

/** The interval is long enough that a stopping backend still receives connections for a while. */
const lookIntervalMs = 800;

export type Balancer = {
  url: string;
  /** Resolves after the first readiness check of the backend. */
  add(url: string): Promise<void>;
  remove(url: string): void;
};
