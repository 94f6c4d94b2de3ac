import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import type { ExecutionContext } from "ava";

/** Starts the server on a free port, and stops it after the test. Returns the port. */
export async function listen(
  t: Pick<ExecutionContext, "teardown">,
  server: Server,
  host = "127.0.0.1",
): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}
