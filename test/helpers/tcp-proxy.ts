import { connect, createServer, type Socket } from "node:net";
import type { ExecutionContext } from "ava";
import { listen } from "./listen.ts";

/** Starts a proxy to a port of 127.0.0.1. */
export async function startTcpProxy(t: Pick<ExecutionContext, "teardown">, port: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  let accepted = 0;
  let sent = 0;
  let isCut = false;
  const pass = (link: Link, from: Socket, to: Socket) => {
    from.on("data", (bytes) => {
      if (!link.isSilent) to.write(bytes);
    });
    // A `close` event follows every error.
    from.on("error", () => {});
    from.on("close", () => {
      if (!link.isSilent) to.destroySoon();
      if (from.destroyed && to.destroyed) links.delete(link);
    });
  };
  const server = createServer((client) => {
    accepted++;
    const target = connect(port, "127.0.0.1");
    const link = { sockets: [client, target], isSilent: isCut };
    links.add(link);
    pass(link, client, target);
    pass(link, target, client);
    client.on("data", () => sent++);
  });
  t.teardown(() => {
    for (const { sockets } of links) for (const socket of sockets) socket.destroy();
  });
  const swallow = () => {
    for (const link of links) link.isSilent = true;
  };
  return {
    port: await listen(t, server),
    acceptedCount: () => accepted,
    sentChunks: () => sent,
    swallow,
    cut() {
      isCut = true;
      swallow();
    },
    heal() {
      isCut = false;
      for (const link of links) {
        // These connections have lost data.
        if (link.isSilent) for (const socket of link.sockets) socket.resetAndDestroy();
      }
    },
  };
}

type Link = { sockets: Socket[]; isSilent: boolean };

export type TcpProxy = {
  port: number;
  acceptedCount(): number;
  /** The number of chunks that clients sent. Small statements have a chunk each. */
  sentChunks(): number;
  /** Drops all data of current connections without closing them. New connections work. */
  swallow(): void;
  /** Drops all data, also of new connections, until `heal`, like a network partition. */
  cut(): void;
  heal(): void;
};
