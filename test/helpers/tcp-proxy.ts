import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { ExecutionContext } from "ava";

/** Starts a proxy to a port of 127.0.0.1. */
export async function startTcpProxy(t: Pick<ExecutionContext, "teardown">, port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const links = new Set<[Socket, Socket]>();
  let accepted = 0;
  let sent = 0;
  const server = createServer((client) => {
    accepted++;
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A `close` event follows every error.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        if (links.delete(link)) for (const each of link) each.destroySoon();
      });
    }
    const link: [Socket, Socket] = [client, upstream];
    links.add(link);
    client.on("data", () => sent++);
    client.pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    port: (server.address() as AddressInfo).port,
    acceptedCount: () => accepted,
    sentChunks: () => sent,
    swallow() {
      for (const [client, upstream] of links) {
        client.unpipe().resume();
        upstream.unpipe().resume();
      }
      links.clear();
    },
  };
}

export type TcpProxy = {
  port: number;
  acceptedCount(): number;
  /** The number of chunks that clients sent. Small statements have a chunk each. */
  sentChunks(): number;
  /** Drops all data of current connections without closing them. New connections work. */
  swallow(): void;
};
