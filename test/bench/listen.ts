import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export async function listenOnLoopback(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
