import type { IncomingMessage, ServerResponse } from "node:http";
import { chat } from "../dialects/chat/chat.ts";
import type { Dialect, StreamWriter } from "../dialects/dialect.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Settings } from "../config/limit-variables.ts";
import type { Log } from "../log.ts";
import type { Runtime } from "../runtime.ts";
import { ObservedRequest, type RequestObserver } from "../usage/request-observer.ts";
import type { Reply } from "../completions/reply.ts";
import type { BytesOrText } from "../wire/bytes.ts";
import { errorHeaders, statusOf, toErrorBody, toErrorEvent } from "./error-response.ts";

export type EndpointOptions = {
  runtime: Runtime;
  limits: Pick<Settings, "clientStallTimeoutMs">;
  observer: RequestObserver | null;
};

export type EndpointContext = {
  request: RoutedRequest;
  response: ServerResponse;
  id: string;
  reply: HttpReply;
  observed: ObservedRequest | null;
};

/** A request with the members that the router adds. The request lacks Express's methods: see `app.ts`. */
type RoutedRequest = IncomingMessage & {
  params?: Record<string, string | string[] | undefined>;
  route?: { path: unknown };
};

export type RequestHandler = (request: RoutedRequest, response: ServerResponse) => Promise<void>;

export function endpoint(
  { runtime, limits, observer }: EndpointOptions,
  handle: (context: EndpointContext) => Promise<void> | void,
  dialectOf: Dialect | ((request: IncomingMessage) => Dialect) = chat,
): RequestHandler {
  return async (request, response) => {
    const id = createId("req", runtime);
    const dialect = typeof dialectOf === "function" ? dialectOf(request) : dialectOf;
    const reply = new HttpReply(response, id, limits.clientStallTimeoutMs, dialect);
    const observed = observer && observeRequest(request, id);
    try {
      await handle({ request, response, id, reply, observed });
    } catch (thrown) {
      const error = toGatewayError(thrown);
      logServerError(runtime.log, id, error);
      observer?.refused(observed, error.code, reply.statusOf(error));
      reply.fail(error);
    }
  };
}

/** For endpoints without usage records. `handle` must answer before it resolves. */
export function plainEndpoint(
  options: EndpointOptions,
  handle: (context: EndpointContext) => Promise<void>,
  dialectOf: Parameters<typeof endpoint>[2],
): RequestHandler {
  const handleAndObserve = async (context: EndpointContext) => {
    await handle(context);
    const { observed, response } = context;
    if (observed) options.observer?.answered(observed, response.headersSent ? response.statusCode : 499);
  };
  return endpoint(options, handleAndObserve, dialectOf);
}

export function logServerError(log: Log, requestId: string, error: GatewayError): void {
  if (error.code === "internal_error")
    log.error({ requestId, error }, "a request failed with an internal error");
  if (error.code === "service_unavailable") log.warn({ requestId, error }, "a request could not be served");
}

/**
 * Observers see the route instead of the path, because a client can put any text into a path. Null for requests
 * outside `/v1`.
 */
function observeRequest(request: RoutedRequest, id: string): ObservedRequest | null {
  const { method = "", url = "", headers } = request;
  if (!/^\/v1(?=[/?]|$)/.test(url)) return null;
  const { traceparent } = headers;
  return new ObservedRequest({
    id,
    method,
    route: routeOf(request),
    traceparent: typeof traceparent === "string" ? traceparent : null,
  });
}

function routeOf({ route }: RoutedRequest): string | null {
  return typeof route?.path === "string" ? route.path.replace(/[*:](\w+)/, "{$1}") : null;
}

class HttpReply implements Reply {
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #stallTimeoutMs: number;
  readonly #dialect: Dialect;
  #streamWriter: StreamWriter | null = null;

  /** @param stallTimeoutMs the time that the client may leave the last bytes unread */
  constructor(response: ServerResponse, requestId: string, stallTimeoutMs: number, dialect: Dialect) {
    this.#response = response;
    this.#requestId = requestId;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#dialect = dialect;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  statusOf(error: GatewayError): number {
    return statusOf(error, this.#dialect);
  }

  streamWith(writer: StreamWriter): void {
    this.#streamWriter = writer;
  }

  beginStream(headers: string[]): void {
    const head = [
      "content-type",
      "text/event-stream; charset=utf-8",
      "cache-control",
      "no-cache",
      // This header disables response buffering in nginx and similar proxies.
      "x-accel-buffering",
      "no",
      ...this.#idHeaders(),
      ...headers,
    ];
    this.#response.writeHead(200, head);
  }

  write(bytes: BytesOrText): boolean {
    return this.#response.write(toSendable(bytes), "latin1");
  }

  endStream(lastBytes: BytesOrText): void {
    this.#end(lastBytes);
  }

  sendJson(bytes: Buffer, headers: string[]): void {
    this.#sendJson(200, bytes, headers);
  }

  fail(error: GatewayError, headers: string[] = []): void {
    if (this.hasBegun) {
      this.#end(Buffer.from(toErrorEvent(error, this.#dialect, this.#requestId, this.#streamWriter)));
      return;
    }
    const body = Buffer.from(JSON.stringify(toErrorBody(error, this.#dialect, this.#requestId)));
    this.#sendJson(this.statusOf(error), body, [...errorHeaders(error), ...headers]);
  }

  abandon(): void {
    this.#response.destroy();
  }

  onDrain(listener: () => void): void {
    this.#response.on("drain", listener);
  }

  #sendJson(status: number, bytes: Buffer, headers: string[]): void {
    const head = [
      "content-type",
      "application/json; charset=utf-8",
      "x-content-type-options",
      "nosniff",
      "content-length",
      String(bytes.length),
      ...this.#idHeaders(),
    ];
    this.#response.writeHead(status, head.concat(headers));
    this.#end(bytes);
  }

  /** Anthropic's SDK reads the ID from `request-id`. */
  #idHeaders(): string[] {
    const own = ["x-request-id", this.#requestId];
    return this.#dialect.endpointName === "messages" ? [...own, "request-id", this.#requestId] : own;
  }

  #end(bytes: BytesOrText): void {
    // Up to `systemBufferBytes` fit into the system's buffers and need no timeout.
    if (bytes.length > systemBufferBytes || this.#response.writableNeedDrain) {
      this.#response.setTimeout(this.#stallTimeoutMs, () => this.abandon());
    }
    // Node joins a Latin-1 string with the head, which saves a write.
    const isJoined = typeof bytes !== "string" && bytes.length <= joinedBytesMax;
    this.#response.end(isJoined ? bytes.toString("latin1") : toSendable(bytes), "latin1");
  }
}

/** Long text becomes a buffer, because a slow client would keep it in V8's limited heap. */
function toSendable(bytes: BytesOrText): BytesOrText {
  return typeof bytes === "string" && bytes.length > textBytesMax ? Buffer.from(bytes, "latin1") : bytes;
}

/** Up to this size, Node encodes text on the stack. */
const textBytesMax = 16 * 1024;

const systemBufferBytes = 64 * 1024;
/** Up to this size, a copy costs less than a second write. */
const joinedBytesMax = 8 * 1024;
