import { readFileSync } from "node:fs";
import path from "node:path";
import { frameAwsEvent, frameEvents } from "./frame-events.ts";

export type NativeRecording = {
  kind: string;
  basePath: string;
  secret: string;
  answer: Buffer;
  streamContentType: string;
  events: Buffer[];
  answerText: string;
  streamText: string;
  errorBody(message: string): string;
  errorEvent(message: string): Buffer;
};

const folder = path.resolve(import.meta.dirname, "../fixtures/providers");
const sse = "text/event-stream";
const awsEvents = "application/vnd.amazon.eventstream";

export const nativeRecordings: NativeRecording[] = [
  {
    ...recorded("anthropic", "text-stream", sse),
    basePath: "/v1",
    secret: "sk-ant-secret-0123456789",
    errorBody: (message) => JSON.stringify({ type: "error", error: { type: "some_error", message } }),
    errorEvent: (message) =>
      Buffer.from(
        `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", message } })}\n\n`,
      ),
  },
  {
    ...recorded("gemini", "text-stream", sse),
    basePath: "/v1beta",
    secret: "AIzaSecret-0123456789",
    errorBody: (message) => JSON.stringify({ error: { code: 400, message, status: "SOME_STATUS" } }),
    errorEvent: (message) =>
      Buffer.from(`data: ${JSON.stringify({ error: { code: 503, message, status: "UNAVAILABLE" } })}\n\n`),
  },
  {
    ...recorded("bedrock", "text", awsEvents),
    basePath: "?region=us-east-1",
    secret: "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    errorBody: (message) => JSON.stringify({ message }),
    errorEvent: (message) => frameAwsEvent("modelStreamErrorException", JSON.stringify({ message }), true),
  },
];

function recorded(kind: string, streamCase: string, streamContentType: string) {
  const answer = readFixture(kind, "text.json");
  const stream = readFixture(kind, `${streamCase}.json`);
  const chunks = readFileSync(path.join(folder, kind, `${streamCase}.chunks.txt`), "utf8");
  const separator = streamContentType === sse ? /(?<=\r?\n\r?\n)/ : /(?<=\n)/;
  const pieces = chunks.split(separator).filter((piece) => piece.trim() !== "");
  return {
    kind,
    streamContentType,
    answer: Buffer.from(JSON.stringify(answer.upstreamAnswer)),
    events: pieces.map((piece) => frameEvents(piece, streamContentType)),
    answerText: answer.chatAnswer?.choices[0]?.message.content ?? "",
    streamText: (stream.chatChoices ?? []).map(({ delta }) => delta.content ?? "").join(""),
  };
}

type Fixture = {
  upstreamAnswer?: unknown;
  chatAnswer?: { choices: { message: { content: string } }[] };
  chatChoices?: { delta: { content?: string } }[];
};

function readFixture(kind: string, file: string): Fixture {
  return JSON.parse(readFileSync(path.join(folder, kind, file), "utf8")) as Fixture;
}
