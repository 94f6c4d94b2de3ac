import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { answerParent } from "./measured-process.ts";
import { type Response, ResponseReader } from "./response-reader.ts";

export type Load = {
  port: number;
  request: string;
  /** The expected body, or its length in bytes if every body differs. */
  expected: Uint8Array | number;
  count: number;
  timeoutMs: number;
};

/** Connections stay open between rounds, so that connecting is not measured. */
const connections = new Map<number, Promise<Connection>[]>();
const connectionsMax = 64;

const answers = {
  async fetch({ port, request }: Pick<Load, "port" | "request">) {
    const connection = await connectionsTo(port)[0];
    const response = await connection?.exchange(Buffer.from(request));
    return { status: response?.status, body: response?.body.toString("utf8") };
  },

  /** Each connection sends its next request after the response. Throws if a response differs or the timeout passes. */
  async run({ port, request, expected, count, timeoutMs }: Load) {
    const requestBytes = Buffer.from(request);
    const deadline = performance.now() + timeoutMs;
    const open = await Promise.all(connectionsTo(port));
    let left = count;
    const startedAt = performance.now();
    await Promise.all(
      open.map(async (connection) => {
        while (left-- > 0) {
          const response = await connection.exchange(requestBytes);
          const { status, body } = response;
          const isRight = typeof expected === "number" ? body.length === expected : body.equals(expected);
          if (status !== 200 || !isRight) {
            throw new Error(`Wrong answer: ${status} ${body.toString("utf8").slice(-500)}`);
          }
          if (performance.now() > deadline)
            throw new Error(`${count} requests took more than ${timeoutMs} ms.`);
        }
      }),
    );
    return { durationMs: performance.now() - startedAt };
  },
};

function connectionsTo(port: number): Promise<Connection>[] {
  const open = connections.get(port) ?? Array.from({ length: connectionsMax }, () => openConnection(port));
  connections.set(port, open);
  return open;
}

async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  return new Connection(socket);
}

class Connection {
  readonly #socket: Socket;
  readonly #reader = new ResponseReader();
  #waiting: PromiseWithResolvers<Response> | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes) => {
      const response = this.#reader.push(bytes);
      if (response) this.#waiting?.resolve(response);
    });
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () =>
      this.#waiting?.reject(new Error("The connection was closed before the answer's end.")),
    );
  }

  exchange(request: Buffer): Promise<Response> {
    this.#waiting = Promise.withResolvers<Response>();
    this.#socket.write(request);
    return this.#waiting.promise;
  }
}

export type LoadGenerator = typeof answers;

answerParent(answers);
