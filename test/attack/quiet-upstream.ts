import { createServer } from "node:http";
import type { ExecutionContext } from "ava";
import { cannedUpstreams } from "../bench/canned-upstreams.ts";
import { listenOnLoopback } from "../bench/listen.ts";

/** Serves the canned responses, without streams, and stores no requests. Returns the port. */
export async function startQuietUpstream(t: Pick<ExecutionContext, "teardown">): Promise<number> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const upstream = cannedUpstreams.find(({ path }) => request.url === path);
      response.writeHead(upstream ? 200 : 404, { "content-type": "application/json" });
      response.end(upstream?.answer);
    });
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return listenOnLoopback(server);
}
