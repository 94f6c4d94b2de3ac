import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Server as SecureServer } from "node:tls";
import type { ExecutionContext } from "ava";

/**
 * An upstream that writes what a test says, whether it is HTTP or not. It stops with the test.
 * @param script called for each request that has arrived whole
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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const { socket } of connections) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${isSecure ? "https" : "http"}://127.0.0.1:${port}`, port, connections };
}

export type RawUpstream = {
  url: string;
  port: number;
  /** Every connection that was ever accepted, oldest first. */
  connections: RawConnection[];
};

export type RawConnection = {
  socket: Socket;
  /** As they came, head and body. */
  requests: string[];
  isClosed: boolean;
};

/** Where the first request ends; -1 while it is not whole. */
function endOfRequest(text: string): number {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return -1;
  const [, length = "0"] = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, headEnd + 2)) ?? [];
  const end = headEnd + 4 + Number(length);
  return end <= text.length ? end : -1;
}
