import type { IncomingMessage, ServerResponse } from "node:http";
import type { Dialect, StreamWriter } from "../dialects/dialect.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Settings } from "../config/variables.ts";
import type { Log } from "../log.ts";
import type { Runtime } from "../runtime.ts";
import { ObservedRequest, type RequestObserver } from "../usage/request-observer.ts";
import type { Reply } from "../completions/reply.ts";
import type { BytesOrText } from "../wire/bytes.ts";
import { errorHeaders, statusOf, toErrorBody, toErrorEvent } from "./error-response.ts";
import { claimsToBeKeyValue } from "../keys/key-value.ts";
import { hasSeveral } from "../http/browser-request.ts";
import { type TrustedProxies, clientAddressOf } from "../http/trusted-proxies.ts";
import {
  type AuthenticateKeyOptions,
  invalidApiKey,
  authenticateKey,
  type KnownKey,
} from "../keys/authenticate-key.ts";
import type { AnswerContext, ClientHeaders, Operation } from "../completions/operation.ts";
import { answerRequest } from "../completions/answer-request.ts";
import { Exchange, type OpenExchanges } from "../completions/exchange.ts";
import { responses } from "../dialects/responses/responses.ts";
import type { BodyBudget, BodyHolder, HeldBody } from "../http/body-budget.ts";
import { ClientGoneError, readBody } from "../http/read-body.ts";
import type { MemoryStore } from "../kept-responses/memory-store.ts";
import type { KeptResponses } from "../kept-responses/kept-responses.ts";
import type { LimitsInForce } from "../limits/holders.ts";
import type { UsageRecorder } from "../usage/recording/usage-recorder.ts";

export type EndpointOptions = {
  runtime: Runtime;
  limits: Pick<Settings, "clientStallTimeoutMs">;
  observer: RequestObserver | null;
};

type EndpointContext = {
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
  dialectOf: Dialect | ((request: IncomingMessage) => Dialect),
  handle: (context: EndpointContext) => Promise<void> | void,
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
  dialectOf: Parameters<typeof endpoint>[1],
  handle: (context: EndpointContext) => Promise<void>,
): RequestHandler {
  return endpoint(options, dialectOf, async (context) => {
    await handle(context);
    const { observed, response } = context;
    if (observed) options.observer?.answered(observed, response.headersSent ? response.statusCode : 499);
  });
}

export function logServerError(log: Log, requestId: string, error: GatewayError): void {
  if (error.code === "internal_error")
    log.error({ requestId, error }, "a request failed with an internal error");
  if (error.code === "service_unavailable") log.warn({ requestId, error }, "a request could not be served");
}

/** Observers see the route, because a path may be any text. Null for requests outside `/v1`. */
function observeRequest(request: RoutedRequest, id: string): ObservedRequest | null {
  const { method = "", url = "", headers } = request;
  if (!/^\/v1(?=[/?]|$)/.test(url)) return null;
  const { traceparent } = headers;
  return new ObservedRequest({
    id,
    method,
    route: typeof request.route?.path === "string" ? templateOf(request.route.path) : null,
    traceparent: typeof traceparent === "string" ? traceparent : null,
  });
}

/** Replaces the router's form of parameters by that of OpenAPI and OpenTelemetry, such as `{id}`. */
export function templateOf(path: string): string {
  return path.replace(/[*:](\w+)/, "{$1}");
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

  send(bytes: Buffer, headers: string[], contentType = jsonType): void {
    this.#send(200, contentType, bytes, headers);
  }

  fail(error: GatewayError, headers: string[] = []): void {
    if (this.hasBegun) {
      this.#end(Buffer.from(toErrorEvent(error, this.#dialect, this.#requestId, this.#streamWriter)));
      return;
    }
    const body = Buffer.from(JSON.stringify(toErrorBody(error, this.#dialect, this.#requestId)));
    this.#send(this.statusOf(error), jsonType, body, [...errorHeaders(error), ...headers]);
  }

  abandon(): void {
    this.#response.destroy();
  }

  onDrain(listener: () => void): void {
    this.#response.on("drain", listener);
  }

  #send(status: number, contentType: string, bytes: Buffer, headers: string[]): void {
    const head = [
      "content-type",
      contentType,
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

const jsonType = "application/json; charset=utf-8";

/** Long text becomes a buffer, because a slow client would keep it in V8's limited heap. */
function toSendable(bytes: BytesOrText): BytesOrText {
  return typeof bytes === "string" && bytes.length > textBytesMax ? Buffer.from(bytes, "latin1") : bytes;
}

/** Up to this size, Node encodes text on the stack. */
const textBytesMax = 16 * 1024;

const systemBufferBytes = 64 * 1024;
/** Up to this size, a copy costs less than a second write. */
const joinedBytesMax = 8 * 1024;

export type ModelEndpointOptions = KeyOptions &
  AnswerContext & {
    recorder: UsageRecorder;
    openExchanges: OpenExchanges;
    bodyBudget: BodyBudget;
    keptResponses: KeptResponses | null;
    /** Keeps the recent responses of WebSockets. */
    memoryStore: MemoryStore;
  };

export function modelEndpoint(
  options: ModelEndpointOptions,
  operation: Operation,
  dialect: Dialect,
): RequestHandler {
  const { bodyBudget, keptResponses, limits } = options;
  return endpoint(options, dialect, async ({ request, response, id, reply, observed }) => {
    const { headers } = request;
    // A cached key needs no promise.
    const known = authenticateKey(options, readKeyValue(request));
    const key = known instanceof Promise ? await known : known;
    const heldBody = bodyBudget.hold(bodyHolderOf(key));
    const exchange = openExchange(options, operation, { id, key, headers, reply, observed, heldBody });
    response.on("close", () => {
      if (!response.writableFinished) exchange.cancel();
    });
    try {
      checkAddress(options, key, request);
      const bytes = await readBody(request, limits.requestBodyBytesMax, heldBody);
      exchange.received();
      const findFollowUp =
        dialect === responses && keptResponses ? keptResponses.finderFor(key.id, bytes) : null;
      const received = { bytes, headers, heldBody, findFollowUp };
      const answering = answerRequest(options, exchange, operation, received);
      if (answering) await answering;
    } catch (thrown) {
      failExchange(options, exchange, thrown);
    }
  });
}

type OpenedRequest = Pick<EndpointContext, "id" | "observed"> & {
  key: KnownKey;
  headers: ClientHeaders;
  reply: Reply;
  heldBody: HeldBody;
};

/** Throws `service_unavailable` while usage cannot be recorded. */
export function openExchange(
  { recorder, observer, openExchanges }: ModelEndpointOptions,
  { endpointName: endpoint, telemetryName }: Operation,
  { id, key, headers, reply, observed, heldBody }: OpenedRequest,
): Exchange {
  if (recorder.isFull) throw usageCannotBeRecorded();
  const clientTool = findClientTool(headers);
  return new Exchange({
    id,
    endpoint,
    telemetryName,
    clientTool,
    key,
    reply,
    observed,
    heldBody,
    recorder,
    observer,
    openExchanges,
  });
}

export function failExchange({ runtime }: ModelEndpointOptions, exchange: Exchange, thrown: unknown): void {
  if (thrown instanceof ClientGoneError) return exchange.cancel();
  const error = toGatewayError(thrown);
  logServerError(runtime.log, exchange.id, error);
  exchange.fail(error);
}

function usageCannotBeRecorded(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "The gateway temporarily cannot record usage. Retry in a few seconds.",
    { retryAfterSeconds: 5 },
  );
}

/**
 * Detects the client tool, for usage statistics only.
 * @param headers names in lower case
 */
export function findClientTool(headers: ClientHeaders): ClientTool | null {
  for (const [name, patterns] of signs) {
    const value = headers[name];
    if (typeof value !== "string" || value.length > headerLengthMax) continue;
    for (const [tool, pattern] of patterns) if (pattern.test(value)) return tool;
  }
  return null;
}

type ClientTool = (typeof signs)[number][1][number][0];

/**
 * The first match counts. `x-title` comes first, because its senders may share their User-Agent with other
 * software. Most patterns were observed in November 2026. The marked patterns come from source code.
 */
const signs = [
  [
    "x-title",
    [
      ["kilo-code", /^Kilo Code$/],
      ["cline", /^Cline$/], // from source code
      ["roo-code", /^Roo Code$/], // from source code
      ["cherry-studio", /^Cherry Studio$/], // from source code, sends the User-Agent of a browser
    ],
  ],
  [
    "user-agent",
    [
      ["claude-code", /^claude-(cli|code)\//],
      // Observed: `codex_exec` and `codex-tui`. Other names, such as `codex_cli_rs` and `codex_vscode`, come from
      // source code.
      ["codex", /^codex[_-][a-z_]+\//],
      ["opencode", /^opencode2?\//],
      ["kilo-code", /^(Kilo-Code|kilo)\//],
      ["qwen-code", /^QwenCode\//],
      ["pi", /^pi( \(|\/)/],
      ["kimi-code", /^kimi-code-[a-z]+\//],
      ["gemini-cli", /^GeminiCLI[-/]/],
      ["continue", /^ls\/JS /],
      ["grok-build", /^grok-(shell|pager|cli)\//],
      ["droid", /^factory-cli\//],
      // The setup configures the names from `aider` to `librechat`, because these tools would send only a library's
      // name.
      ["aider", /^aider(\/|$)/],
      ["hermes-agent", /^hermes-agent(\/|$)/],
      ["mistral-vibe", /^mistral-vibe(\/|$)/],
      ["openclaw", /^openclaw(\/|$)/],
      ["goose", /^goose(\/|$)/], // from source code
      ["junie", /^junie(\/|$)/], // from source code
      ["open-webui", /^Open WebUI(\/|$)/], // from source code
      ["librechat", /^LibreChat(\/|$)/], // from source code
      ["vscode-copilot", /^GitHubCopilotChat\//], // from source code
      ["crush", /^Charm-Crush\//], // from source code
      ["roo-code", /^(RooCode|roo-code)\//], // from source code
      ["zed", /^Zed\//], // from source code
    ],
  ],
  ["x-initiator", [["copilot", /^(user|agent)$/]]],
  // Other tools rarely combine this library with this runtime.
  ["user-agent", [["cline", /^ai-sdk\/openai-compatible\/.* runtime\/bun\//]]],
] as const;

const headerLengthMax = 1_024;

/** Several keys of one person share a part of the memory for bodies. */
export function bodyHolderOf({ id, ownerId }: KnownKey): BodyHolder {
  return { person: ownerId ?? id, key: id };
}

export async function keyOf(options: KeyOptions, request: IncomingMessage): Promise<KnownKey> {
  const key = await authenticateKey(options, readKeyValue(request));
  checkAddress(options, key, request);
  return key;
}

/** The key of a request that calls no model, and counts against the key's rates only. */
export async function limitedKeyOf(
  options: KeyOptions & Pick<AnswerContext, "limiter">,
  request: IncomingMessage,
): Promise<KnownKey> {
  const key = await keyOf(options, request);
  await options.limiter.countRequest(key);
  return key;
}

type KeyOptions = AuthenticateKeyOptions & {
  trustedProxies: TrustedProxies;
  limitsInForce: LimitsInForce;
};

/** Uses the message for an invalid key, so that a thief of the key learns nothing about the allowed addresses. */
function checkAddress(
  { trustedProxies, limitsInForce }: Pick<KeyOptions, "trustedProxies" | "limitsInForce">,
  key: KnownKey,
  request: IncomingMessage,
): void {
  const { addressRanges } = limitsInForce.of(key);
  if (addressRanges.length === 0) return;
  const address = clientAddressOf(request, trustedProxies);
  if (addressRanges.every((ranges) => ranges.has(address))) return;
  throw new GatewayError("address_not_allowed", invalidApiKey().message);
}

/**
 * Reads the key from a bearer token (RFC 6750) or `x-api-key` (Anthropic). Tools may send both, one of them
 * an old key of another vendor. The gateway's key then takes precedence.
 */
function readKeyValue(request: IncomingMessage): string | null {
  if (hasSeveral(request.rawHeaders, "authorization")) {
    // Node reads the first header and a proxy perhaps the last, so they could check different keys.
    throw new GatewayError(
      "invalid_api_key",
      "The request has more than one Authorization header. Send only one.",
    );
  }
  const { authorization, "x-api-key": apiKey } = request.headers;
  const bearer = authorization === undefined ? null : readBearer(authorization);
  const other = typeof apiKey === "string" && apiKey !== "" ? apiKey : null;
  if (bearer !== null && other !== null && !claimsToBeKeyValue(bearer) && claimsToBeKeyValue(other))
    return other;
  return bearer ?? other;
}

/** Null for other schemes such as Basic. */
function readBearer(authorization: string): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}
