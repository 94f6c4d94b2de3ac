import type { ServerResponse } from "node:http";
import { answerParent, thisProcess } from "../bench/measured-process.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";

/** The soak's provider, in its own process. Requests to `/healthy/` succeed, and most others fail. */
const { url, requests } = await createUpstream(thisProcess, ({ url, body }, response) => {
  requests.length = 0;
  if (!url.startsWith("/healthy/")) return faults[faulted++ % faults.length]?.(response);
  return body.includes('"stream":true') ? stream(response) : sendCompletion(response);
});

/** The stream lasts long enough for a client to disconnect in the middle. */
function stream(response: ServerResponse): void {
  beginStream(response);
  response.write(chunkEvent("Hello").repeat(20));
  setTimeout(() => response.end(chunkEvent(" again").repeat(20) + usageEvent + doneEvent), 10);
}

let faulted = 0;
const faults: ((response: ServerResponse) => void)[] = [
  (response) => void sendCompletion(response),
  (response) => void response.writeHead(500).end("{}"),
  (response) => void sendCompletion(response),
  (response) => void response.writeHead(429, { "retry-after": "1" }).end("{}"),
  (response) => void response.destroy(),
  (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"choices":'),
  (response) => {
    beginStream(response);
    response.write(chunkEvent("Hello"), () => response.destroy());
  },
  // Only the gateway's idle timeout ends this response.
  (response) => {
    beginStream(response);
    response.write(chunkEvent("Hello"));
  },
];

const answers = { url: () => url };
export type FaultyUpstream = typeof answers;

answerParent(answers);
