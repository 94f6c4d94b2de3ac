import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ExecutionContext } from "ava";

/** Starts a proxy that refuses and records every request. */
export async function createRefusingProxy(t: Pick<ExecutionContext, "teardown">): Promise<RefusingProxy> {
  const wanted: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    wanted.push(url);
    response.writeHead(403).end();
  });
  server.on("connect", ({ url = "" }, socket) => {
    wanted.push(url);
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, wanted };
}

export type RefusingProxy = {
  url: string;
  wanted: string[];
};
