import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { hangMs } from "./eventually.ts";
import type { Answer } from "./post-chat.ts";

export async function sendRaw(url: string, ...pieces: (string | Buffer)[]): Promise<Answer> {
  const socket = await openSocket(url);
  const answer = readAnswer(socket);
  for (const piece of pieces) socket.write(piece);
  return answer;
}

/** Opens a connection, for requests that HTTP clients cannot send. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // A test may expect a broken connection, so errors are ignored.
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

export function readAnswer(socket: Socket, timeoutMs = hangMs): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => reject(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs);
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    const answer = parseAnswer(Buffer.concat(chunks));
    if (answer) resolve(answer);
  });
  socket.resume();
  socket.on("close", () => reject(new Error(`Closed after: ${Buffer.concat(chunks).toString()}`)));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

/** Returns null while the response is incomplete. A response without Content-Length is never complete. */
function parseAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = bytes.subarray(headEnd + 4);
  if (body.length < Number(headers.get("content-length") ?? Infinity)) return null;
  return { status: Number(statusLine.split(" ")[1]), headers, text: body.toString("utf8") };
}
