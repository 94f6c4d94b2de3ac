import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { Transform } from "node:stream";
import type { ExecutionContext } from "ava";

/** Starts a proxy to a port of 127.0.0.1. `delayMs` delays each chunk that a client sends. */
export async function startTcpProxy(
  t: Pick<ExecutionContext, "teardown">,
  port: number,
  { delayMs = 0 } = {},
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const links = new Set<[Socket, Socket]>();
  let accepted = 0;
  const server = createServer((client) => {
    accepted++;
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A `close` event follows every error.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        links.delete(link);
      });
    }
    const link: [Socket, Socket] = [client, upstream];
    links.add(link);
    client.pipe(delayed(delayMs)).pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    port: (server.address() as AddressInfo).port,
    acceptedCount: () => accepted,
    swallow() {
      for (const [client, upstream] of links) {
        client.unpipe().resume();
        upstream.unpipe().resume();
      }
      links.clear();
    },
  };
}

function delayed(delayMs: number): Transform {
  return new Transform({
    transform: (chunk, _encoding, done) => void setTimeout(() => done(null, chunk), delayMs),
  });
}

export type TcpProxy = {
  port: number;
  acceptedCount(): number;
  /** Drops all data of current connections without closing them. New connections work. */
  swallow(): void;
};
