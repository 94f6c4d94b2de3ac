import { createServer } from "node:http";
import type { ExecutionContext } from "ava";
import { listen } from "../helpers/listen.ts";

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
  return { url: `http://127.0.0.1:${await listen(t, server)}`, wanted };
}

export type RefusingProxy = {
  url: string;
  wanted: string[];
};
