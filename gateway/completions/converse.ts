import type { ChatRequest } from "../dialects/chat/read-chat-request.ts";
import type { Dialect, DialectRequest } from "../dialects/dialect.ts";
import type { Way } from "../models/way.ts";
import type { Endpoint } from "../providers/provider.ts";
import type { Attempt } from "../upstream/attempts.ts";
import { applyEdits } from "../wire/apply-edits.ts";
import { AnswerRelay } from "./answer-relay.ts";
import { callModel } from "./call-model.ts";
import { type ClientForm, toEnvelope } from "./client-form.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";
import { NativeEventStream } from "./native-event-stream.ts";
import { prepareChat, relayStream } from "./prepare-chat.ts";
import { readRequest } from "./read-request.ts";

/** Headers of the client's that mean something to an upstream of its own dialect; names in lower case. */
export type ClientHeaders = Record<string, string>;

/**
 * The way of every request in another dialect than chat completions: to an upstream that speaks it as it came, to all
 * others as a chat completion. Throws a `GatewayError` for a request that cannot be made.
 */
export function converse(
  options: CompleteOptions,
  exchange: Exchange,
  bytes: Buffer,
  dialect: Dialect,
  clientHeaders: ClientHeaders,
): void {
  const request = readRequest(options, exchange, bytes, dialect.readRequest);
  const slug = request.value.model;

  const envelope = toEnvelope(exchange, slug);
  const clientForm: ClientForm = {
    passChat: null,
    formatAnswer: (answer) => dialect.formatAnswer(answer, envelope, request.value),
    createStreamWriter: () => dialect.createStreamWriter(envelope, request.value),
  };
  callModel(options, exchange, slug, (way) => {
    const { target } = way;
    const endpoint = target.reach === "network" ? target.dialects[dialect.endpointName] : undefined;
    if (endpoint) {
      const call = { options, exchange, request: dialect.native.toNativeRequest(request.value), slug };
      return prepareNative(call, dialect, withClientHeaders(endpoint, clientHeaders), way);
    }
    const chatRequest = toChatRequest(dialect, request.value);
    return prepareChat({ options, exchange, request: chatRequest, clientForm, slug }, way);
  });
  request.letGo();
}

type NativeCall = {
  options: CompleteOptions;
  exchange: Exchange;
  request: DialectRequest;
  slug: string;
};

function prepareNative(
  { options, exchange, request, slug }: NativeCall,
  { native }: Pick<Dialect, "native">,
  endpoint: Endpoint,
  { upstreamModel, timeouts }: Way,
): Attempt {
  const { limits, upstreams } = options;
  const { secret } = endpoint;
  const bytes = spliceModel(request, upstreamModel.name);
  const events = request.stream
    ? relayStream(
        options,
        exchange,
        new NativeEventStream({ native, slug, eventBytesMax: limits.upstreamEventBytesMax, secret }),
      )
    : new AnswerRelay(exchange, (answer) => native.readAnswer(answer, slug), limits.upstreamAnswerBytesMax);
  return { events, begin: (relay) => upstreams.call(endpoint, bytes, timeouts, relay) };
}

/** The client's own bytes with another model, or what was checked where they say something twice. */
export function spliceModel(
  { body, bytes, modelRange }: Pick<DialectRequest, "body" | "bytes" | "modelRange">,
  upstreamModel: string,
): Buffer {
  if (modelRange === null) return Buffer.from(JSON.stringify({ ...body, model: upstreamModel }));
  return applyEdits(bytes, [{ ...modelRange, text: JSON.stringify(upstreamModel) }]);
}

function toChatRequest(dialect: Dialect, request: DialectRequest): ChatRequest {
  const { stream } = request;
  const body = { ...dialect.toChatRequest(request), stream };
  // The gateway asks for the usage by itself, and no byte of the client's can be passed on.
  return { body, bytes: request.bytes, layout: null, stream, isTranslated: true, includeUsage: false };
}

export function withClientHeaders(endpoint: Endpoint, clientHeaders: ClientHeaders): Endpoint {
  const names = Object.keys(clientHeaders);
  if (names.length === 0) return endpoint;
  const headers = endpoint.headers.flatMap((name, index) =>
    index % 2 === 0 && !names.includes(name) ? [name, endpoint.headers[index + 1] ?? ""] : [],
  );
  return { ...endpoint, headers: [...headers, ...Object.entries(clientHeaders).flat()] };
}
