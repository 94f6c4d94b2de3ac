import { chatPath, messagesPath } from "./chat-request.ts";
import { cannedAnswer, cannedEvents } from "./canned-answers.ts";
import { type CannedUpstream, openAiUpstream, vendorUpstreams } from "./canned-upstreams.ts";

export type BenchmarkCase = {
  name: string;
  slug: string;
  stream: boolean;
  /** The request body is valid for both endpoints. */
  clientPath: typeof chatPath | typeof messagesPath;
  upstreamPath: string;
  requestsPerRound: number;
  warmUpRounds: number;
  /** Many short rounds spread other load evenly over the gateway and the bare proxy. */
  rounds: number;
  /** The target ratio of the gateway's CPU time to the bare proxy's. Null without a target. */
  aim: number | null;
  /**
   * The expected response bodies. If `gateway` is null, only the length is compared, because the gateway may generate
   * IDs and times.
   */
  body: { bare: Buffer; gateway: Buffer | null };
};

const { slug } = openAiUpstream;
const { chunks, done } = cannedEvents(slug);

export const openAiCases: BenchmarkCase[] = [
  {
    ...answerOf(openAiUpstream),
    name: "1 KB answer",
    requestsPerRound: 1_000,
    warmUpRounds: 15,
    rounds: 31,
    aim: 1,
    body: { bare: openAiUpstream.answer, gateway: Buffer.from(cannedAnswer(slug)) },
  },
  {
    ...streamOf(openAiUpstream),
    name: "50-chunk stream",
    requestsPerRound: 400,
    warmUpRounds: 12,
    rounds: 31,
    aim: 0.8,
    body: {
      bare: Buffer.concat(openAiUpstream.events),
      // The gateway removes the usage, which the client did not request.
      gateway: Buffer.from([...chunks, done].join("")),
    },
  },
];

export const vendorCases: BenchmarkCase[] = vendorUpstreams.flatMap((upstream) => [
  answerOf(upstream),
  streamOf(upstream),
]);

export const dialectCases: BenchmarkCase[] = vendorUpstreams
  .filter(({ kind }) => kind === "anthropic" || kind === "gemini")
  .map((upstream) => ({
    ...streamOf(upstream),
    name: `messages to ${upstream.kind}, 50-chunk stream`,
    clientPath: messagesPath,
  }));

function answerOf({ kind, slug, path, answer }: CannedUpstream): BenchmarkCase {
  return {
    name: `${kind}, 1 KB answer`,
    slug,
    stream: false,
    clientPath: chatPath,
    upstreamPath: path,
    requestsPerRound: 1_000,
    warmUpRounds: 3,
    rounds: 6,
    aim: null,
    body: { bare: answer, gateway: null },
  };
}

function streamOf(upstream: CannedUpstream): BenchmarkCase {
  return {
    ...answerOf(upstream),
    name: `${upstream.kind}, 50-chunk stream`,
    stream: true,
    upstreamPath: upstream.streamPath,
    requestsPerRound: 500,
    body: { bare: Buffer.concat(upstream.events), gateway: null },
  };
}
