import { keyOf } from "../endpoint.ts";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { GatewayError, toGatewayError } from "../../errors.ts";
import type { BodyHolder, HeldBody } from "../../http/body-budget.ts";
import { createId } from "../../ids.ts";
import { readTurn } from "./read-turn.ts";
import { SocketTurn, type SocketTurnOptions } from "./socket-turn.ts";
import { type Connection, SocketReply } from "./socket-reply.ts";

type ResponsesSocketOptions = Omit<SocketTurnOptions, "connection"> & {
  webSocket: WebSocket;
  /** The connection below the WebSocket. */
  socket: Duplex;
  /** The holder of the turns' bodies in the body budget. */
  bodyHolder: BodyHolder;
};

/** Turns with the same `stream_id` run one after another. Turns with different IDs run concurrently. */
export class ResponsesSocket implements Connection {
  readonly #options: ResponsesSocketOptions;
  readonly #openedAt = performance.now();
  /** Running and waiting turns, the oldest first. */
  readonly #turns = new Set<SocketTurn>();
  /** Messages that have arrived and are not read yet, in order. */
  readonly #unread: (() => void)[] = [];
  /** The bytes of an incomplete message. */
  #arriving: HeldBody;
  /** The bytes since the last message, and the part of them in pings and pongs, which hold nothing. */
  #arrivedBytes = 0;
  #controlBytes = 0;
  #heardAt = performance.now();
  /** When unread answers were first noticed, from `performance.now()`. Null while the client reads. */
  #stalledAt: number | null = null;
  #isEnding = false;

  constructor(options: ResponsesSocketOptions) {
    this.#options = options;
    this.#arriving = this.#hold();
    const { webSocket, socket } = options;
    // Counts a chunk before `ws` reads its message.
    socket.prependListener("data", (chunk: Buffer) => this.#arrive(chunk.length));
    socket.on("drain", () => this.#drained());
    webSocket.on("message", (data: Buffer) => this.#receive(data));
    // A client that sends pings and never reads would fill the memory with pongs.
    webSocket.on("ping", (data) => {
      this.#receiveControl(data.length);
      if (!socket.writableNeedDrain) webSocket.pong();
    });
    webSocket.on("pong", (data) => this.#receiveControl(data.length));
    // A "close" event follows.
    webSocket.on("error", () => {});
    webSocket.on("close", () => this.#closed());
  }

  send(text: string): boolean {
    this.#options.webSocket.send(text);
    return !this.#options.socket.writableNeedDrain;
  }

  ping(): void {
    if (!this.#options.socket.writableNeedDrain) this.#options.webSocket.ping();
  }

  terminate(): void {
    this.#options.webSocket.terminate();
  }

  /** Closes the connection after its turns. */
  end(): void {
    this.#isEnding = true;
    this.#closeIfDone();
  }

  /**
   * Runs at every ping interval. The ping keeps proxies from closing the connection. Closes a silent, stalled or
   * old idle connection, and a connection whose key is no longer valid.
   */
  async check(): Promise<void> {
    const { endpoint, request } = this.#options;
    const { clientStallTimeoutMs, streamPingIntervalMs, responsesSocketMsMax } = endpoint.limits;
    const now = performance.now();
    const isSilent = now - this.#heardAt > streamPingIntervalMs + clientStallTimeoutMs;
    const isStalled = this.#stalledAt !== null && now - this.#stalledAt > clientStallTimeoutMs;
    if (isSilent || isStalled) return this.terminate();
    if (this.#turns.size === 0 && now - this.#openedAt > responsesSocketMsMax) {
      return this.#refuse(tooOld(responsesSocketMsMax), normalClosure);
    }
    this.ping();
    try {
      await keyOf(endpoint, request);
    } catch (thrown) {
      const error = toGatewayError(thrown);
      if (error.code !== "service_unavailable") this.#refuse(error, policyViolation);
    }
  }

  #hold(): HeldBody {
    return this.#options.endpoint.bodyBudget.hold(this.#options.bodyHolder);
  }

  #arrive(bytes: number): void {
    this.#heardAt = performance.now();
    if (this.#arrivedBytes === 0) this.#controlBytes = 0;
    this.#arrivedBytes += bytes;
    try {
      this.#arriving.add(bytes + chunkBytes);
    } catch (thrown) {
      this.#refuse(toGatewayError(thrown), tryAgainLater);
    }
  }

  /** Many pongs of an idle client must not fill its owner's share. */
  #receiveControl(dataBytes: number): void {
    this.#controlBytes += controlFrameBytes + dataBytes;
    if (this.#controlBytes === this.#arrivedBytes) this.#forgetArrived();
  }

  #forgetArrived(): void {
    this.#arriving.release();
    this.#arriving = this.#hold();
    this.#arrivedBytes = 0;
  }

  /** A long message is read in a later turn of the event loop, because receiving it has taken long already. */
  #receive(message: Buffer): void {
    const arrived = this.#arriving;
    this.#arriving = this.#hold();
    this.#arrivedBytes = 0;
    if (message.length < longMessageBytesMin && this.#unread.length === 0) {
      return this.#read(message, arrived);
    }
    if (this.#unread.push(() => this.#read(message, arrived)) === 1) setImmediate(() => this.#readNext());
  }

  #readNext(): void {
    this.#unread[0]?.();
    this.#unread.shift();
    if (this.#unread.length > 0) setImmediate(() => this.#readNext());
  }

  #read(message: Buffer, arrived: HeldBody): void {
    arrived.release();
    const { endpoint, webSocket } = this.#options;
    if (webSocket.readyState !== webSocket.OPEN) return;
    const { limits } = endpoint;
    try {
      if (this.#isEnding) throw stopping();
      if (this.#turns.size >= limits.responsesSocketTurnsMax)
        throw tooManyTurns(limits.responsesSocketTurnsMax);
      const turn = readTurn(message, limits);
      const body = this.#hold();
      body.add(turn.bytes.length);
      const started = new SocketTurn({ ...this.#options, connection: this }, turn, body, () => {
        this.#turns.delete(started);
        this.#closeIfDone();
        this.#runNext();
      });
      this.#turns.add(started);
      this.#runNext();
    } catch (thrown) {
      this.#refuse(toGatewayError(thrown), null);
    }
  }

  /**
   * Starts each turn once all earlier turns with its `stream_id` are over. Starts none while answers are unread,
   * because more answers would fill the memory.
   */
  #runNext(): void {
    const busy = new Set<string | null>();
    for (const turn of this.#turns) {
      if (this.#options.socket.writableNeedDrain) {
        this.#stalledAt ??= performance.now();
        return;
      }
      if (!turn.isRunning && !busy.has(turn.streamId)) void turn.run();
      busy.add(turn.streamId);
    }
  }

  #drained(): void {
    this.#stalledAt = null;
    for (const turn of this.#turns) turn.drained();
    this.#runNext();
  }

  /** @param closeCode null if the connection stays open */
  #refuse(error: GatewayError, closeCode: number | null): void {
    const { socket, webSocket, endpoint } = this.#options;
    // Errors would accumulate for a client that does not read.
    if (socket.writableNeedDrain) return this.terminate();
    const requestId = createId("req", endpoint.runtime);
    const ignore = () => {};
    const reply = { requestId, streamId: null, connection: this, onFinished: ignore, onOver: ignore };
    new SocketReply(reply).fail(error);
    if (closeCode !== null) webSocket.close(closeCode);
  }

  #closeIfDone(): void {
    if (this.#isEnding && this.#turns.size === 0) this.#options.webSocket.close(goingAway);
  }

  #closed(): void {
    this.#arriving.release();
    for (const turn of this.#turns) turn.cancel();
    this.#turns.clear();
    this.#options.recent.close();
  }
}

const longMessageBytesMin = 1024 * 1024;
/** The memory that a chunk takes besides its bytes until its frame is complete, with the chunk's last fragment. */
const chunkBytes = 512;
/** RFC 6455, section 5.2: the header and mask of a client's ping or pong. */
const controlFrameBytes = 6;

/** Uses OpenAI's code, after which Codex opens a new connection. */
function tooOld(msMax: number): GatewayError {
  const message = `The connection is older than ${Math.round(msMax / 60_000)} minutes. Open a new connection.`;
  return new GatewayError("websocket_connection_limit_reached", message);
}

function tooManyTurns(turnsMax: number): GatewayError {
  const message = `The connection has ${turnsMax} open responses. Wait until one has ended.`;
  return new GatewayError("concurrency_limit_exceeded", message, { retryAfterSeconds: 1 });
}

export function stopping(): GatewayError {
  const message = "The gateway is shutting down. Retry on a new connection.";
  return new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
}

// The close codes of RFC 6455, section 7.4.1, and of IANA's WebSocket registry.
const normalClosure = 1000;
const goingAway = 1001;
const policyViolation = 1008;
const tryAgainLater = 1013;
