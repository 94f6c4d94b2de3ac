import { createServer, type ServerResponse } from "node:http";
import { type CannedUpstream, cannedUpstreams } from "./canned-upstreams.ts";
import { listenOnLoopback } from "./listen.ts";
import { answerParent } from "./measured-process.ts";

/** The upstream of the gateway and the bare proxy. Sends a canned response or stream for each path. */
const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const body: Buffer[] = [];
  request.on("data", (bytes: Buffer) => body.push(bytes));
  request.on("end", () => {
    const { url } = request;
    const upstream = cannedUpstreams.find(({ path, streamPath }) => url === path || url === streamPath);
    if (!upstream) return response.writeHead(404).end(`Nothing is known about ${url}.`);
    const { path, streamPath } = upstream;
    const wantsStream =
      path === streamPath ? Buffer.concat(body).includes('"stream":true') : url === streamPath;
    return wantsStream ? sendStream(upstream, response) : sendAnswer(upstream, response);
  });
});

function sendAnswer({ answer }: CannedUpstream, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
  response.end(answer);
}

function sendStream({ streamContentType, events }: CannedUpstream, response: ServerResponse): void {
  response.writeHead(200, { "content-type": streamContentType });
  // The socket is corked, because corking the response would put all events into one HTTP chunk.
  response.socket?.cork();
  for (const event of events) response.write(event);
  response.end();
  response.socket?.uncork();
}

const answers = { start: () => listenOnLoopback(server) };
export type ScriptedUpstream = typeof answers;

answerParent(answers);
