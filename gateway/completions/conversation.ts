import type { AnswerEnvelope, Dialect, DialectRequest, NativeDialect } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import type {
  ChatAnswer,
  ChatTranslation,
  UpstreamModel,
  Endpoint,
  EndpointName,
  ModelApis,
} from "../providers/provider.ts";
import type { Attempt } from "../routing/attempts.ts";
import type { UsableCandidate } from "../routing/candidate.ts";
import type { UpstreamEvents } from "../upstream/upstream-call.ts";
import type { ChatRequestBody, ChunkChoice } from "../wire/chat-completion.ts";
import { AnswerRelay } from "./answer-relay.ts";
import type { ClientHeaders, ModelCall, Operation } from "./operation.ts";
import { type StreamReading, StreamRelay, NativeStream } from "./stream-relay.ts";
import { translatedAnswer } from "./translated-answer.ts";
import { TranslatedStream } from "./translated-stream.ts";
import { estimateInputTokens } from "../usage/counting/estimate-input-tokens.ts";

/** Upstreams with the same dialect receive native requests. Other upstreams receive translated requests. */
export function conversation(dialect: Dialect): Operation<DialectRequest> {
  return {
    endpointName: dialect.endpointName,
    telemetryName: "chat",
    read: dialect.readRequest,
    estimateInputTokens: ({ body }) => estimateInputTokens(body),
    prepare(call, candidate) {
      const endpoint = nativeEndpoint(candidate.apis, dialect.endpointName);
      return endpoint
        ? prepareNative(call, dialect, candidate, endpoint)
        : prepareTranslated(call, dialect, candidate);
    },
  };
}

type Call = ModelCall<DialectRequest>;

function nativeEndpoint(apis: ModelApis, name: EndpointName): Endpoint | undefined {
  const isTranslated = name === "chat/completions" && apis[name].quirks === null;
  return isTranslated ? undefined : apis[name]?.endpoint;
}

function prepareNative(
  call: Call,
  { native }: Dialect,
  { upstreamModel, timeouts, apis }: UsableCandidate,
  endpoint: Endpoint,
): Attempt {
  const { request, context, headers } = call;
  const parts = native.buildRequest(request, upstreamModel, apis["chat/completions"].quirks);
  const target = withClientHeaders(endpoint, headers, native.forwardedHeaders);
  return {
    dropped: request.dropped ?? null,
    events: relayNative(call, native, endpoint.secret),
    begin: (events) => context.upstreams.call(target, parts, timeouts, events),
  };
}

function prepareTranslated(
  call: Call,
  dialect: Dialect,
  { upstreamModel, timeouts, apis }: UsableCandidate,
): Attempt {
  const { request, context, followUp } = call;
  if (followUp?.missing) throw followUp.missing;
  const chat = apis["chat/completions"];
  const { requestTranslatedBytesMax: bytesMax } = context.limits;
  if (request.bytes.length > bytesMax) throw tooLargeToTranslate(bytesMax);
  const endpoint = request.stream ? chat.streamEndpoint : chat.endpoint;
  const chatBody = toChatBody(dialect, request);
  const translation = chatBody["parallel_tool_calls"] === false ? withOneCall(chat) : chat;
  const params = new Set<string>();
  const built = buildRequest(chat, chatBody, upstreamModel, dialect, params);
  const bytes = Buffer.from(toWellFormedJson(built));
  const dropped = [...params].map((param) => clientNameOf(param, dialect) ?? param);
  return {
    dropped:
      [request.dropped, dialect.droppedIn(request), ...dropped].filter(Boolean).join(", ").slice(0, 255) ||
      null,
    events: relayTranslated(call, dialect, translation, endpoint.secret),
    begin: (events) => context.upstreams.call(endpoint, [bytes], timeouts, events),
  };
}

/**
 * Replaces halves of surrogate pairs, which `JSON.stringify` escapes, by U+FFFD, because Anthropic and others reject
 * them. A client may cut a text within an emoji.
 */
function toWellFormedJson(value: object): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replaceAll(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (escape) =>
    escape === "\\\\" ? escape : "\ufffd",
  );
}

/** An error about a parameter contains the client's name for the parameter. */
function buildRequest(
  chat: ChatTranslation,
  body: ChatRequestBody,
  model: UpstreamModel,
  dialect: Dialect,
  dropped: Set<string>,
): object {
  try {
    return chat.buildRequest(body, model, dropped);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.param === null) throw thrown;
    const param = clientNameOf(thrown.param, dialect);
    if (param === undefined) throw thrown;
    const message = thrown.message.replaceAll(`'${thrown.param}'`, () => `'${param}'`);
    throw new GatewayError(thrown.code, message, { cause: thrown, param });
  }
}

/** The client's name for a parameter of the chat completion. Undefined if the names are equal. */
function clientNameOf(param: string, { clientParams }: Dialect): string | undefined {
  const [, name = "", rest = ""] = /^([^.[]*)(.*)$/s.exec(param) ?? [];
  return Object.hasOwn(clientParams, name) ? `${clientParams[name]}${rest}` : undefined;
}

/** Each translation rewrites the whole body, which blocks other requests. */
function tooLargeToTranslate(bytesMax: number): GatewayError {
  return new GatewayError(
    "request_too_large",
    `The request body is larger than ${bytesMax} bytes, the maximum for translated requests. Send a smaller request, or raise REQUEST_TRANSLATED_BYTES_MAX.`,
  );
}

function relayNative(call: Call, native: NativeDialect, secret: string | null): UpstreamEvents {
  const { context, exchange, request } = call;
  const { upstreamEventBytesMax: eventBytesMax, upstreamAnswerBytesMax } = context.limits;
  const slug = request.model;
  return request.stream
    ? relayStream(call, new NativeStream({ native, request, slug, eventBytesMax, secret }))
    : new AnswerRelay(exchange, (answer) => native.readAnswer(answer, slug), upstreamAnswerBytesMax);
}

function relayTranslated(
  call: Call,
  dialect: Dialect,
  translation: ChatTranslation,
  secret: string | null,
): UpstreamEvents {
  const { context, exchange, request } = call;
  const { upstreamEventBytesMax: eventBytesMax, upstreamAnswerBytesMax } = context.limits;
  const envelope = envelopeOf(call, dialect);
  const { estimateInputTokens } = envelope;
  if (!request.stream) {
    const formatAnswer = (answer: ChatAnswer) => dialect.formatAnswer(answer, envelope, request);
    const { readAnswer } = translation;
    const reading = translatedAnswer({ readAnswer, formatAnswer, estimateInputTokens, secret });
    return new AnswerRelay(exchange, reading, Math.min(upstreamAnswerBytesMax, translatedBytesMax));
  }
  const writer = dialect.createStreamWriter(envelope, request);
  exchange.reply.streamWith(writer);
  const options = { translation, writer, estimateInputTokens, eventBytesMax, secret };
  return relayStream(call, new TranslatedStream(options));
}

/** Translating an answer of this size takes some 200 ms. */
const translatedBytesMax = 12 * 1024 * 1024;

function relayStream({ context, exchange }: Call, reading: StreamReading): StreamRelay {
  const { streamPingIntervalMs: pingIntervalMs, clientStallTimeoutMs } = context.limits;
  return new StreamRelay(exchange, reading, { pingIntervalMs, clientStallTimeoutMs });
}

function toChatBody(dialect: Dialect, request: DialectRequest): ChatRequestBody {
  return { ...dialect.toChatRequest(request), stream: request.stream };
}

function envelopeOf({ context, exchange, request, followUp }: Call, dialect: Dialect): AnswerEnvelope {
  const { keptResponses } = context;
  const isKept =
    dialect.endpointName === "responses" &&
    request.body["store"] !== false &&
    request.bytes.length <= context.limits.responseBytesMax;
  return {
    id: exchange.id,
    createdSeconds: Math.floor(exchange.createdAt.getTime() / 1000),
    nowSeconds: () =>
      Math.floor((exchange.createdAt.getTime() + performance.now() - exchange.startedAt) / 1000),
    slug: request.model,
    estimateInputTokens: () => estimateInputTokens(request.body),
    previousResponseId: followUp?.previousResponseId ?? null,
    keep:
      keptResponses && isKept
        ? (answer) => keptResponses.keep(exchange.key.id, answer, request.body["input"])
        : null,
  };
}

/** Adds the client's forwarded headers, which replace the endpoint's headers of the same names. */
export function withClientHeaders(
  endpoint: Endpoint,
  headers: ClientHeaders,
  forwarded: RegExp | null,
): Endpoint {
  if (forwarded === null) return endpoint;
  const names = Object.keys(headers).filter(
    (name) => forwarded.test(name) && typeof headers[name] === "string",
  );
  if (names.length === 0) return endpoint;
  const own = endpoint.headers.flatMap((name, index) =>
    index % 2 === 0 && !names.includes(name) ? [name, endpoint.headers[index + 1] ?? ""] : [],
  );
  return { ...endpoint, headers: [...own, ...names.flatMap((name) => [name, String(headers[name])])] };
}

/** Some upstreams lack `parallel_tool_calls`, and clients that set it to false may not handle further calls. */
function withOneCall(translation: ChatTranslation): ChatTranslation {
  return {
    ...translation,
    readAnswer(answer) {
      const { choices, ...rest } = translation.readAnswer(answer);
      return { ...rest, choices: choices.map(firstCallOnly) };
    },
    createStreamReader() {
      const reader = translation.createStreamReader();
      const firstCalls = new Map<number, number>();
      return {
        get usage() {
          return reader.usage;
        },
        get usageDetails() {
          return reader.usageDetails;
        },
        get state() {
          return reader.state;
        },
        read: (event) => reader.read(event).map((choice) => withoutLaterCalls(choice, firstCalls)),
      };
    },
  };
}

function firstCallOnly<Choice extends { message: { tool_calls?: unknown[] } }>(choice: Choice): Choice {
  const { tool_calls: calls } = choice.message;
  if (!calls || calls.length < 2) return choice;
  return { ...choice, message: { ...choice.message, tool_calls: calls.slice(0, 1) } };
}

/** @param firstCalls the index of the first call of each choice */
function withoutLaterCalls(choice: ChunkChoice, firstCalls: Map<number, number>): ChunkChoice {
  const { tool_calls: calls, ...delta } = choice.delta;
  if (!calls || calls.length === 0) return choice;
  const first = firstCalls.get(choice.index) ?? calls[0]?.index ?? 0;
  firstCalls.set(choice.index, first);
  const kept = calls.filter(({ index }) => index === first);
  return { ...choice, delta: { ...delta, ...(kept.length > 0 && { tool_calls: kept }) } };
}
