import type { ChatRequest } from "../dialects/chat/read-chat-request.ts";
import type { NetworkTarget, Way } from "../models/way.ts";
import type { LocalProvider } from "../providers/provider.ts";
import type { Attempt } from "../upstream/attempts.ts";
import { playAnswer } from "../upstream/local-call.ts";
import { AnswerRelay } from "./answer-relay.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";
import { nativeAnswer } from "./native-answer.ts";
import { NativeStream } from "./native-stream.ts";
import { spliceRequest } from "./splice-request.ts";
import { StreamRelay } from "./stream-relay.ts";
import { translatedAnswer } from "./translated-answer.ts";
import { TranslatedStream } from "./translated-stream.ts";

/**
 * A chat completion by one way: the request in its upstream's words, and the relay that understands the answer. Throws a
 * `GatewayError` for a way that cannot be taken, or not with this request.
 */
export function prepareChat(call: ChatCall): Attempt {
  const { target } = call.way;
  if (target.reach === "none") throw target.reason;
  if (target.reach === "local") return prepareLocal(call, target.provider);
  return target.chat.form === "native"
    ? prepareNative(call, target.chat)
    : prepareTranslated(call, target.chat);
}

export type ChatCall = {
  options: CompleteOptions;
  exchange: Exchange;
  request: ChatRequest;
  slug: string;
  way: Way;
};

function prepareNative(call: ChatCall, chat: NetworkTarget["chat"] & { form: "native" }): Attempt {
  const { options, request, way } = call;
  const bytes = spliceRequest(request, way.upstreamModel.name, chat.quirks);
  return {
    events: nativeRelay(call, chat.endpoint.secret),
    begin: (events) => options.upstreams.call(chat.endpoint, bytes, way.timeouts, events),
  };
}

function prepareLocal(call: ChatCall, provider: LocalProvider): Attempt {
  const { exchange, request, way } = call;
  const body = {
    ...request.body,
    model: way.upstreamModel.name,
    stream_options: { include_usage: true },
  };
  return {
    events: nativeRelay(call, null),
    begin: (events) => playAnswer(provider.answerChat(body, identityOf(exchange)), way.timeouts, events),
  };
}

function nativeRelay({ options, exchange, request, slug }: ChatCall, secret: string | null) {
  const { limits } = options;
  if (!request.stream)
    return new AnswerRelay(exchange, nativeAnswer(slug, "choices"), limits.upstreamAnswerBytesMax);
  const { includeUsage } = request;
  const eventBytesMax = limits.upstreamEventBytesMax;
  return streamRelay(options, exchange, new NativeStream({ slug, includeUsage, eventBytesMax, secret }));
}

function prepareTranslated(call: ChatCall, chat: NetworkTarget["chat"] & { form: "translated" }): Attempt {
  const { options, exchange, request, slug, way } = call;
  const bytes = Buffer.from(JSON.stringify(chat.buildRequest(request.body, way.upstreamModel)));
  const endpoint = request.stream ? chat.streamEndpoint : chat.endpoint;
  const envelope = { ...identityOf(exchange), slug };
  const relay = request.stream
    ? streamRelay(
        options,
        exchange,
        new TranslatedStream({
          ...envelope,
          translation: chat,
          includeUsage: request.includeUsage,
          eventBytesMax: options.limits.upstreamEventBytesMax,
          secret: chat.endpoint.secret,
        }),
      )
    : new AnswerRelay(exchange, translatedAnswer(chat, envelope), options.limits.upstreamAnswerBytesMax);
  return {
    events: relay,
    begin: (events) => options.upstreams.call(endpoint, bytes, way.timeouts, events),
  };
}

function streamRelay(
  { limits }: CompleteOptions,
  exchange: Exchange,
  reading: NativeStream | TranslatedStream,
): StreamRelay {
  const { streamPingIntervalMs: pingIntervalMs, clientStallTimeoutMs } = limits;
  return new StreamRelay(exchange, reading, { pingIntervalMs, clientStallTimeoutMs });
}

function identityOf(exchange: Exchange): { id: string; createdSeconds: number } {
  return {
    id: `chatcmpl-${exchange.id}`,
    createdSeconds: Math.floor(exchange.createdAt.getTime() / 1000),
  };
}
