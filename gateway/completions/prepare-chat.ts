import type { ChatRequest } from "../dialects/chat/read-chat-request.ts";
import type { NetworkTarget, Candidate } from "../routing/candidate.ts";
import type { LocalProvider } from "../providers/provider.ts";
import type { Attempt } from "../routing/attempts.ts";
import { playAnswer } from "../upstream/local-call.ts";
import type { UpstreamEvents } from "../upstream/upstream-call.ts";
import { AnswerRelay } from "./answer-relay.ts";
import { chatForm } from "./chat-form.ts";
import { type ClientForm, toEnvelope } from "./client-form.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";
import { spliceRequest } from "./splice-request.ts";
import { StreamRelay } from "./stream-relay.ts";
import type { StreamReading } from "./stream-reading.ts";
import { translatedAnswer } from "./translated-answer.ts";
import { TranslatedStream } from "./translated-stream.ts";

/** A chat completion that is to be made for a client, whatever the client speaks. */
export type ChatCall = {
  options: CompleteOptions;
  exchange: Exchange;
  request: ChatRequest;
  clientForm: ClientForm;
  slug: string;
};

/**
 * A chat completion by one way: the request in its upstream's words, and the relay that understands the answer. Throws a
 * `GatewayError` for a way that cannot be taken, or not with this request.
 */
export function prepareChat(call: ChatCall, candidate: Candidate): Attempt {
  const { target } = candidate;
  if (target.reach === "none") throw target.reason;
  if (target.reach === "local") return prepareLocal(call, candidate, target.provider);
  return target.chat.form === "native"
    ? prepareNative(call, candidate, target.chat)
    : prepareTranslated(call, candidate, target.chat);
}

type Chat = NetworkTarget["chat"];

function prepareNative(call: ChatCall, candidate: Candidate, chat: Chat & { form: "native" }): Attempt {
  const { endpoint, quirks } = chat;
  const bytes = spliceRequest(call.request, candidate.upstreamModel, quirks);
  return {
    events: relayChat(call, endpoint.secret),
    begin: (events) => call.options.upstreams.call(endpoint, bytes, candidate.timeouts, events),
  };
}

function prepareLocal(call: ChatCall, candidate: Candidate, provider: LocalProvider): Attempt {
  const { exchange, request, slug } = call;
  const body = {
    ...request.body,
    model: candidate.upstreamModel.name,
    stream_options: { include_usage: true },
  };
  const { id, createdSeconds } = toEnvelope(exchange, slug);
  const identity = { id: `chatcmpl-${id}`, createdSeconds };
  return {
    events: relayChat(call, null),
    begin: (events) => playAnswer(provider.answerChat(body, identity), candidate.timeouts, events),
  };
}

function prepareTranslated(
  call: ChatCall,
  candidate: Candidate,
  chat: Chat & { form: "translated" },
): Attempt {
  const { options, request } = call;
  const endpoint = request.stream ? chat.streamEndpoint : chat.endpoint;
  const bytes = Buffer.from(JSON.stringify(chat.buildRequest(request.body, candidate.upstreamModel)));
  return {
    events: translate(call, chat, endpoint.secret),
    begin: (events) => options.upstreams.call(endpoint, bytes, candidate.timeouts, events),
  };
}

/** For an answer in chat completions. */
function relayChat(call: ChatCall, secret: string | null): UpstreamEvents {
  const { options, exchange, request, clientForm } = call;
  const { passChat } = clientForm;
  if (passChat === null) return translate(call, chatForm, secret);
  return request.stream
    ? relayStream(options, exchange, passChat.stream(secret))
    : new AnswerRelay(exchange, passChat.answer, options.limits.upstreamAnswerBytesMax);
}

function translate(
  { options, exchange, request, clientForm }: ChatCall,
  translation: typeof chatForm,
  secret: string | null,
): UpstreamEvents {
  const { upstreamEventBytesMax: eventBytesMax, upstreamAnswerBytesMax } = options.limits;
  if (!request.stream) {
    const reading = translatedAnswer(translation.readAnswer, clientForm.formatAnswer, secret);
    return new AnswerRelay(exchange, reading, upstreamAnswerBytesMax);
  }
  const writer = clientForm.createStreamWriter();
  exchange.reply.streamWriter = writer;
  const reading = new TranslatedStream({ translation, writer, eventBytesMax, secret });
  return relayStream(options, exchange, reading);
}

export function relayStream(
  { limits }: CompleteOptions,
  exchange: Exchange,
  reading: StreamReading,
): StreamRelay {
  const { streamPingIntervalMs: pingIntervalMs, clientStallTimeoutMs } = limits;
  return new StreamRelay(exchange, reading, { pingIntervalMs, clientStallTimeoutMs });
}
