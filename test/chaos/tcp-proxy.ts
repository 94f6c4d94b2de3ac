import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { ExecutionContext } from "ava";

/** Forwards connections to a port. After `cut`, it drops all data until `heal`, like a network partition. */
export async function createTcpProxy(t: ExecutionContext, targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on("data", (bytes) => {
      if (!isCut) to.write(bytes);
    });
    from.on("close", () => {
      sockets.delete(from);
      if (!isCut) to.destroy();
    });
    from.on("error", () => {});
  };
  const server = createServer((client) => {
    const target = connect({ port: targetPort, host: "127.0.0.1" });
    pass(client, target);
    pass(target, client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
    },
    heal() {
      isCut = false;
      // These connections may have lost data, so the proxy resets them.
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}

export type TcpProxy = { port: number; cut(): void; heal(): void };
