import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Answer } from "./post-chat.ts";

/** Writes raw bytes and returns one complete response. Throws if the connection closes early. */
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
  // Errors are ignored, because tests may expect the connection to close.
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Reads one complete response and closes the connection. */
export function readAnswer(socket: Socket, timeoutMs = 20_000): Promise<Answer> {
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

/** Null while the response is incomplete. Every response except a stream has a length. */
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
