import { createServer, type Server, type Socket } from "node:net";
import { Server as SecureServer } from "node:tls";
import type { ExecutionContext } from "ava";
import { listen } from "./listen.ts";

/**
 * Starts an upstream that can send invalid HTTP.
 * @param script runs for each complete request
 */
export async function createRawUpstream(
  t: Pick<ExecutionContext, "teardown">,
  script: (connection: RawConnection, request: string) => void,
  server: Server = createServer(),
): Promise<RawUpstream> {
  const isSecure = server instanceof SecureServer;
  const connections: RawConnection[] = [];
  server.on(isSecure ? "secureConnection" : "connection", (socket: Socket) => {
    const connection: RawConnection = { socket, requests: [], isClosed: false };
    connections.push(connection);
    let rest = "";
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => {
      rest += bytes.toString("latin1");
      for (let end = endOfRequest(rest); end !== -1; end = endOfRequest(rest)) {
        const request = rest.slice(0, end);
        connection.requests.push(request);
        rest = rest.slice(end);
        script(connection, request);
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => (connection.isClosed = true));
  });
  const port = await listen(t, server);
  return { url: `${isSecure ? "https" : "http"}://127.0.0.1:${port}`, port, connections };
}

export type RawUpstream = {
  url: string;
  port: number;
  connections: RawConnection[];
};

export type RawConnection = {
  socket: Socket;
  requests: string[];
  isClosed: boolean;
};

/** Returns the offset after the first request, or -1 while the request is incomplete. */
function endOfRequest(text: string): number {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return -1;
  const [, length = "0"] = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, headEnd + 2)) ?? [];
  const end = headEnd + 4 + Number(length);
  return end <= text.length ? end : -1;
}
