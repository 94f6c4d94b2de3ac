import { once } from "node:events";
import type { ExecutionContext } from "ava";
import { WebSocket } from "ws";
import type { TestGateway } from "./test-gateway.ts";

export type Frame = {
  type: string;
  status?: number;
  stream_id?: string;
  delta?: string;
  headers?: Record<string, string>;
  error?: { code: string | null; param: string | null; message: string };
  response?: {
    id: string;
    status: string;
    store: boolean;
    previous_response_id: string | null;
    output: { type: string; call_id?: string; id: string }[];
  };
};

export async function openSocket(
  t: Pick<ExecutionContext, "teardown">,
  { url }: Pick<TestGateway, "url">,
  keyValue: string,
) {
  const headers = { authorization: `Bearer ${keyValue}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { headers });
  t.teardown(() => socket.terminate());
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  let closeCode: number | null = null;
  const wake = () => waiting.forEach((each) => each());
  socket.on("message", (data: Buffer) => {
    frames.push(JSON.parse(data.toString("utf8")) as Frame);
    wake();
  });
  socket.on("close", (code) => {
    closeCode = code;
    wake();
  });
  await once(socket, "open");
  /** Resolves with the first result of `find` that is not null or undefined. Rejects if the connection closes first. */
  const until = async <Value>(find: () => Value | null | undefined): Promise<Value> => {
    for (;;) {
      const found = find();
      if (found !== null && found !== undefined) return found;
      if (closeCode !== null) throw new Error(`The connection closed with ${closeCode}.`);
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      await promise;
      waiting.delete(resolve);
    }
  };
  const send = (event: object | string) =>
    socket.send(typeof event === "string" ? event : JSON.stringify(event));
  return {
    socket,
    frames,
    send,
    until,
    closed: () => until(() => closeCode),
    /** Sends `response.create`, and resolves with the frames up to the last one of the turn. */
    async turn(body: object): Promise<Frame[]> {
      const from = frames.length;
      send({ type: "response.create", ...body });
      const end = await until(() => {
        const index = frames.findIndex(({ type }, at) => at >= from && lastTypes.has(type));
        return index === -1 ? null : index;
      });
      return frames.slice(from, end + 1);
    },
  };
}

const lastTypes = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

export function responseOf(frames: readonly Frame[]) {
  const response = frames.at(-1)?.response;
  if (response === undefined) throw new Error(JSON.stringify(frames.at(-1)));
  return response;
}
