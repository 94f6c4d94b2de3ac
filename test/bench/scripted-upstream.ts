import { createServer } from "node:http";
import { cannedAnswer, cannedEvents, upstreamModel } from "./canned-answers.ts";
import { listenOnLoopback } from "./listen.ts";
import { answerParent } from "./measured-process.ts";

/** The provider behind both proxies: it answers every POST with the same bytes, a stream if the body asks for one. */
const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const body: Buffer[] = [];
  request.on("data", (bytes: Buffer) => body.push(bytes));
  request.on("end", () => {
    if (!Buffer.concat(body).includes('"stream":true')) {
      response.writeHead(200, answerHead);
      response.end(answer);
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    // The socket is corked, not the response: that would make one HTTP chunk of all events.
    response.socket?.cork();
    for (const event of events) response.write(event);
    response.end();
    response.socket?.uncork();
  });
});

const answer = Buffer.from(cannedAnswer(upstreamModel));
const answerHead = { "content-type": "application/json", "content-length": answer.length };

const { chunks, usage, done } = cannedEvents(upstreamModel);
const events = [...chunks, usage, done].map((event) => Buffer.from(event));

const answers = { start: () => listenOnLoopback(server) };
export type ScriptedUpstream = typeof answers;

answerParent(answers);
