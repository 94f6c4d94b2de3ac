import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { ExecutionContext } from "ava";
import { listen } from "./listen.ts";

/** Starts a scripted upstream on real sockets, for timing, broken connections and cancellation. */
export async function createUpstream(
  t: Pick<ExecutionContext, "teardown">,
  script: Script,
): Promise<ScriptedUpstream> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  // Node's default of 5 s could close an idle connection just when the gateway uses it again.
  const server = createServer({ keepAliveTimeout: 120_000 }, async (incoming, response) => {
    const bytes = await buffer(incoming).catch(() => null);
    // The gateway has aborted the call.
    if (bytes === null) return void response.destroy();
    const { method = "", url = "", headers } = incoming;
    const request = { method, url, headers, body: bytes.toString("utf8") };
    requests.push(request);
    await script(request, response);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return { url: `http://127.0.0.1:${await listen(t, server)}`, requests, sockets };
}

export type SeenRequest = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };

export type ScriptedUpstream = {
  url: string;
  requests: SeenRequest[];
  sockets: Set<Socket>;
};

type Script = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export function sendCompletion(response: ServerResponse, content = "Hi!"): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "upstream-model-2026",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    }),
  );
}

/** Sends a completion, or a stream of one piece if the request asks for a stream. */
export function answerChat({ body }: SeenRequest, response: ServerResponse, content = "Hi!"): void {
  if (!body.includes('"stream":true')) return sendCompletion(response, content);
  beginStream(response);
  response.end(chunkEvent(content) + usageEvent + doneEvent);
}

export function chunkEvent(content: string): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-model-2026", choices, usage: null })}\n\n`;
}

export const usageEvent = `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-model-2026", choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } })}\n\n`;

export const doneEvent = "data: [DONE]\n\n";

export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
}
