import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { Operation } from "../../completions/operation.ts";
import { responses } from "../../dialects/responses/responses.ts";
import { GatewayError } from "../../errors.ts";
import { findHostProblem } from "../../http/browser-request.ts";
import type { BodyHolder } from "../../http/body-budget.ts";
import {
  endpoint,
  type RequestHandler,
  bodyHolderOf,
  type ModelEndpointOptions,
  keyOf,
} from "../endpoint.ts";
import { RecentResponses } from "./recent-responses.ts";
import { ResponsesSocket, stopping } from "./responses-socket.ts";

/**
 * OpenAI's WebSocket mode of `/v1/responses`, for every provider.
 * https://developers.openai.com/api/docs/guides/websocket-mode
 */
export class ResponsesSockets {
  readonly #options: ModelEndpointOptions;
  readonly #operation: Operation;
  readonly #open = new Map<ResponsesSocket, BodyHolder>();
  readonly #checks: NodeJS.Timeout;
  #server: Promise<WebSocketServer> | null = null;
  #connectionCount = 0;
  #isEnding = false;

  constructor(options: ModelEndpointOptions, operation: Operation) {
    this.#options = options;
    this.#operation = operation;
    const { limits } = options;
    this.#checks = setInterval(() => {
      for (const socket of this.#open.keys()) void socket.check();
    }, limits.streamPingIntervalMs).unref();
  }

  /** If this returns false, Node handles the upgrade request as a plain request. */
  accepts({ method, url = "", headers }: IncomingMessage): boolean {
    const isHere = /^(\/v1){0,2}\/responses(?=$|\?)/.test(url);
    return method === "GET" && isHere && headers.upgrade?.toLowerCase() === "websocket";
  }

  /** Checks the key and opens the WebSocket, or answers with an error over HTTP. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => {});
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.on("finish", () => (socket as Socket).destroySoon());
    const matched = Object.assign(request, { url: "/v1/responses", route: { path: "/v1/responses" } });
    void this.#handler(socket, head)(matched, response);
  }

  /** Rejects new connections and turns. Closes each open connection after its turns. */
  end(): void {
    this.#isEnding = true;
    for (const socket of this.#open.keys()) socket.end();
  }

  close(): void {
    clearInterval(this.#checks);
    for (const socket of this.#open.keys()) socket.terminate();
  }

  #handler(socket: Duplex, head: Buffer): RequestHandler {
    const { observer } = this.#options;
    return endpoint(this.#options, responses, async ({ request, response, observed }) => {
      const problem = findHostProblem(request);
      if (problem !== null) throw problem;
      const holder = bodyHolderOf(await keyOf(this.#options, request));
      const server = await this.#load();
      if (this.#isEnding) throw stopping();
      this.#checkCount(holder);
      shakeHands(server, request, socket, head, (webSocket) => {
        response.detachSocket(socket as Socket);
        this.#add(holder, request, webSocket, socket);
      });
      if (observed) observer?.answered(observed, 101);
    });
  }

  #checkCount({ person, key }: BodyHolder): void {
    const { responsesSocketsMax, responsesSocketsPerKeyMax, responsesSocketsPerPersonMax } =
      this.#options.limits;
    const holders = [...this.#open.values()];
    if (holders.filter((each) => each.key === key).length >= responsesSocketsPerKeyMax) {
      const subject = `The API key has ${responsesSocketsPerKeyMax} open WebSockets.`;
      throw tooManySockets(`${subject} Close one, or raise RESPONSES_SOCKETS_PER_KEY_MAX.`);
    }
    if (holders.filter((each) => each.person === person).length >= responsesSocketsPerPersonMax) {
      const subject = `The key's owner has ${responsesSocketsPerPersonMax} open WebSockets.`;
      throw tooManySockets(`${subject} Close one, or raise RESPONSES_SOCKETS_PER_PERSON_MAX.`);
    }
    if (this.#open.size >= responsesSocketsMax) {
      const subject = `The gateway has ${responsesSocketsMax} open WebSockets.`;
      throw tooManySockets(`${subject} Retry later, or raise RESPONSES_SOCKETS_MAX.`);
    }
  }

  #add(bodyHolder: BodyHolder, request: IncomingMessage, webSocket: WebSocket, socket: Duplex): void {
    const { memoryStore, limits } = this.#options;
    const recent = new RecentResponses({
      store: memoryStore,
      connectionId: String(this.#connectionCount++),
      keyId: bodyHolder.key,
      countMax: limits.responsesSocketTurnsMax,
      keptMs: limits.responsesSocketMsMax,
    });
    const opened = new ResponsesSocket({
      endpoint: this.#options,
      operation: this.#operation,
      request,
      webSocket,
      socket,
      bodyHolder,
      recent,
    });
    this.#open.set(opened, bodyHolder);
    webSocket.on("close", () => this.#open.delete(opened));
  }

  #load(): Promise<WebSocketServer> {
    this.#server ??= import("ws").then(
      (ws) =>
        new ws.WebSocketServer({
          noServer: true,
          clientTracking: false,
          autoPong: false,
          // A compressed frame can expand a thousandfold.
          perMessageDeflate: false,
          maxPayload: this.#options.limits.requestBodyBytesMax,
          maxFragments: fragmentsMax,
          maxBufferedChunks: bufferedChunksMax,
        }),
    );
    return this.#server;
  }
}

/**
 * Throws `invalid_body` for an invalid handshake.
 * @param use runs synchronously, so that no message is lost
 */
function shakeHands(
  server: WebSocketServer,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  use: (webSocket: WebSocket) => void,
): void {
  let problem: Error | null = null;
  const refuse = (error: Error) => (problem = error);
  server.on("wsClientError", refuse);
  server.handleUpgrade(request, socket, head, use);
  server.off("wsClientError", refuse);
  if (problem !== null) throw invalidHandshake();
}

/** The memory for each fragment exceeds 100 bytes. Clients send a message in one. */
const fragmentsMax = 64;
/** Enough for 32 MB in packets of 1,400 bytes. Joining many more would block the process. */
const bufferedChunksMax = 24_576;

function invalidHandshake(): GatewayError {
  const message = "The WebSocket handshake is invalid. Check its Sec-WebSocket headers.";
  return new GatewayError("invalid_body", message);
}

function tooManySockets(message: string): GatewayError {
  return new GatewayError("concurrency_limit_exceeded", message, { retryAfterSeconds: 1 });
}
