import { Agent, createServer, request as requestUpstream } from "node:http";
import { listen } from "../helpers/listen.ts";
import { answerParent, cpuMicroseconds, thisProcess } from "./measured-process.ts";

/** The benchmark's reference: a proxy with Node's HTTP client and server, without keys or usage records. */
function createBareProxy(upstreamPort: number) {
  const agent = new Agent({ keepAlive: true });
  // The timeout is long enough that connections stay open between rounds.
  return createServer({ keepAliveTimeout: 120_000 }, (incoming, response) => {
    const { method, url, headers } = incoming;
    const options = { agent, host: "127.0.0.1", port: upstreamPort, method, path: url, headers };
    const outgoing = requestUpstream(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
}

const answers = {
  start: (upstreamPort: number) => listen(thisProcess, createBareProxy(upstreamPort)),
  cpu: cpuMicroseconds,
};
export type BareProxy = typeof answers;

answerParent(answers);
