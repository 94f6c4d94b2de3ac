import type { ServerResponse } from "node:http";
import type { ExecutionContext } from "ava";
import { anthropicForm, claudeHaiku } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { azureV1Form } from "../helpers/native-upstreams/azure-upstream.ts";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import {
  type Answer,
  buildAnswer,
  type ProviderKind,
  type VendorForm,
} from "../helpers/native-upstreams/native-upstream.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { answerText, cannedAnswer, cannedEvents, streamedText, upstreamModel } from "./canned-answers.ts";
import { chatPath } from "./chat-request.ts";

/** An upstream with one fixed response and one fixed stream. */
export type CannedUpstream = {
  kind: ProviderKind;
  /** The model's name for the gateway's clients. */
  slug: string;
  model: string;
  apiKey: string;
  baseUrl(origin: string): string;
  path: string;
  /** The path for a streamed response, which equals `path` if the body selects streaming. */
  streamPath: string;
  streamContentType: string;
  answer: Buffer;
  events: Buffer[];
};

const { chunks, usage, done } = cannedEvents(upstreamModel);

export const openAiUpstream: CannedUpstream = {
  kind: "openai-compatible",
  slug: "bench/model",
  model: upstreamModel,
  apiKey: "upstream-secret-0123456789",
  baseUrl: (origin) => `${origin}/v1`,
  path: chatPath,
  streamPath: chatPath,
  streamContentType: "text/event-stream; charset=utf-8",
  answer: Buffer.from(cannedAnswer(upstreamModel)),
  events: [...chunks, usage, done].map((event) => Buffer.from(event)),
};

const bedrockPath = `/model/${encodeURIComponent(bedrockForm.model)}/converse`;

/** One upstream for each provider kind except `openai-compatible` and `demo`, with the same content. */
export const vendorUpstreams: CannedUpstream[] = [
  inFormOf(anthropicForm(claudeHaiku), "/v1/messages"),
  inFormOf(
    geminiForm({ name: "gemini-2.5-flash", generation: 2 }),
    "/v1beta/models/gemini-2.5-flash:generateContent",
    "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
  ),
  inFormOf(bedrockForm, bedrockPath, `${bedrockPath}-stream`),
  inFormOf(azureV1Form, "/openai/v1/chat/completions"),
];

export const cannedUpstreams = [openAiUpstream, ...vendorUpstreams];

/** Serves the canned response or stream of each path, and stores no requests. */
export async function createCannedUpstream(t: Pick<ExecutionContext, "teardown">): Promise<{ port: number }> {
  const { url, requests } = await createUpstream(t, ({ url, body }, response) => {
    requests.length = 0;
    const upstream = cannedUpstreams.find(({ path, streamPath }) => url === path || url === streamPath);
    if (!upstream) return void response.writeHead(404).end(`Nothing is known about ${url}.`);
    const { path, streamPath } = upstream;
    const isStream = path === streamPath ? body.includes('"stream":true') : url === streamPath;
    if (isStream) sendStream(upstream, response);
    else sendAnswer(upstream, response);
  });
  return { port: Number(new URL(url).port) };
}

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

function inFormOf(form: VendorForm, path: string, streamPath = path): CannedUpstream {
  const { kind, model, credential, streamContentType } = form;
  const answer: Answer = {
    thoughts: [],
    text: streamedText,
    calls: [],
    finish: "stop",
    usage: { input: 219, cached: 128, cacheWritten: 0, output: 50, thinking: 0 },
    ending: "complete",
  };
  return {
    kind,
    slug: `${kind}/model`,
    model,
    apiKey: credential,
    baseUrl: (origin) => form.baseUrl(origin),
    path,
    streamPath,
    streamContentType,
    answer: Buffer.from(buildAnswer(form, { ...answer, text: [answerText] }).whole),
    events: buildAnswer(form, answer).events,
  };
}
