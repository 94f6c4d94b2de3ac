import { cannedAnswer, cannedEvents, upstreamModel } from "./canned-answers.ts";
import { slug } from "./set-up-gateway.ts";

/** One kind of request, and what is right as the answer of either proxy. */
export type BenchmarkCase = {
  name: string;
  stream: boolean;
  requestsPerRound: number;
  /** The ratio of CPU time to the bare proxy's that we aim for. */
  aim: number;
  body: { bare: string; gateway: string };
};

const fromUpstream = cannedEvents(upstreamModel);
const fromGateway = cannedEvents(slug);

export const cases: BenchmarkCase[] = [
  {
    name: "1 KB answer",
    stream: false,
    requestsPerRound: 3_000,
    aim: 1,
    body: { bare: cannedAnswer(upstreamModel), gateway: cannedAnswer(slug) },
  },
  {
    name: "50-chunk stream",
    stream: true,
    requestsPerRound: 1_000,
    aim: 0.8,
    body: {
      bare: [...fromUpstream.chunks, fromUpstream.usage, fromUpstream.done].join(""),
      // The client did not ask for the usage: the gateway did, and keeps it to itself.
      gateway: [...fromGateway.chunks, fromGateway.done].join(""),
    },
  },
];

/** Says what an answer through the gateway must be, independently of the bytes above. Throws where it is not so. */
export function checkAnswer(stream: boolean, answer: string): void {
  if (!stream) {
    const { model } = JSON.parse(answer) as { model: unknown };
    if (model !== slug) throw new Error(`The answer names the model ${String(model)}, not ${slug}.`);
    return;
  }
  const events = answer.split("\n\n").slice(0, -1);
  if (events.at(-1) !== "data: [DONE]") throw new Error("The stream does not end with [DONE].");
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace("data: ", "")) as Chunk);
  if (chunks.length !== 51) throw new Error(`The stream has ${chunks.length} chunks, not 51.`);
  if (chunks.some(({ model }) => model !== slug)) throw new Error("A chunk does not name the slug.");
  if (chunks.some(({ choices }) => choices.length === 0)) throw new Error("The usage was not withheld.");
}

type Chunk = { model: unknown; choices: unknown[] };
