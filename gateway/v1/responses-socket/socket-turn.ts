import type { IncomingMessage } from "node:http";
import { answerRequest } from "../../completions/answer-request.ts";
import type { Exchange } from "../../completions/exchange.ts";
import type { FollowUp, Operation } from "../../completions/operation.ts";
import { parseBody, type BodyLimits } from "../../dialects/parse-body.ts";
import { responses } from "../../dialects/responses/responses.ts";
import { toGatewayError } from "../../errors.ts";
import type { HeldBody } from "../../http/body-budget.ts";
import { createId } from "../../ids.ts";
import { readFollowUp } from "../../kept-responses/follow-up.ts";
import type { KnownKey } from "../../keys/authenticate-key.ts";
import { resolveRoute } from "../../routing/catalogue.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { ObservedRequest } from "../../usage/request-observer.ts";
import { logOurTrouble } from "../endpoint.ts";
import { failExchange, type ModelEndpointOptions, openExchange, keyOf } from "../model-endpoint.ts";
import type { RecentResponses } from "./recent-responses.ts";
import { type Connection, SocketReply } from "./socket-reply.ts";

export type SocketTurnOptions = {
  endpoint: ModelEndpointOptions;
  operation: Operation;
  /** The upgrade request, whose headers apply to every turn. */
  request: IncomingMessage;
  connection: Connection;
  recent: RecentResponses;
};

/** Like an HTTP request, each turn that calls a model has a usage record. */
export class SocketTurn {
  readonly streamId: string | null;
  readonly #options: SocketTurnOptions;
  readonly #turn: Turn;
  readonly #body: HeldBody;
  readonly #id: string;
  readonly #reply: SocketReply;
  #request: Buffer;
  #previousId: string | null = null;
  #exchange: Exchange | null = null;
  #isRunning = false;
  #isOver = false;

  constructor(options: SocketTurnOptions, turn: Turn, body: HeldBody, onOver: () => void) {
    const { endpoint, connection, recent } = options;
    this.#options = options;
    this.#turn = turn;
    this.#body = body;
    this.#request = turn.bytes;
    this.streamId = turn.streamId;
    this.#id = createId("req", endpoint.runtime);
    this.#reply = new SocketReply({
      requestId: this.#id,
      streamId: turn.streamId,
      connection,
      onFinished: (event) => recent.keep(turn.streamId, this.#request, event),
      onOver: (isFailed) => {
        // After a failure, the gateway forgets the previous response, as OpenAI does. The client then sends
        // the whole conversation.
        if (isFailed && this.#previousId !== null) recent.forget(this.#previousId);
        this.#end();
        onOver();
      },
    });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Never rejects: errors go to the client. */
  async run(): Promise<void> {
    this.#isRunning = true;
    const { endpoint, operation, request } = this.#options;
    const { runtime, observer } = endpoint;
    const id = this.#id;
    const observed =
      observer && new ObservedRequest({ id, method: "GET", route: "/v1/responses", traceparent: null });
    try {
      const key = await keyOf(endpoint, request);
      if (this.#isOver) return;
      if (this.#turn.isWarmUp) return await this.#warmUp(key);
      const { headers } = request;
      const parts = { id, key, headers, reply: this.#reply, observed, heldBody: this.#body };
      const exchange = openExchange(endpoint, operation, parts);
      this.#exchange = exchange;
      const followUp = await this.#followUp(key);
      if (exchange.isOver) return;
      answerRequest(endpoint, exchange, operation, { bytes: this.#request, headers, followUp });
    } catch (thrown) {
      if (this.#exchange) return failExchange(endpoint, this.#exchange, thrown);
      const error = toGatewayError(thrown);
      logOurTrouble(runtime.log, id, error);
      observer?.refused(observed, error.code, this.#reply.statusOf(error));
      this.#reply.fail(error);
    }
  }

  drained(): void {
    this.#reply.drained();
  }

  cancel(): void {
    this.#exchange?.cancel();
    this.#end();
  }

  /** Resolves references to earlier responses. The connection's recent responses take precedence. */
  async #followUp(key: KnownKey): Promise<FollowUp | null> {
    const { endpoint, recent } = this.#options;
    const { limits, keptResponses } = endpoint;
    const { bytes } = this.#turn;
    const find = (id: string) => recent.find(id) ?? keptResponses?.find(key.id, id) ?? null;
    const followUp = await readFollowUp(bytes, limits, find);
    if (followUp === null) return null;
    this.#body.add(Math.max(0, followUp.bytes.length - bytes.length));
    this.#request = followUp.bytes;
    this.#previousId = followUp.previousResponseId;
    return followUp;
  }

  /**
   * Answers a turn that has OpenAI's `generate: false`, without calling the model. Later turns can refer to
   * the answer.
   */
  async #warmUp(key: KnownKey): Promise<void> {
    const { endpoint } = this.#options;
    const { runtime, limits, catalogue } = endpoint;
    const followUp = await this.#followUp(key);
    if (this.#isOver) return;
    if (followUp?.missing) throw followUp.missing;
    const body = parseBody(this.#request, limits, () => {});
    const slug = String(body["model"]);
    resolveRoute(catalogue, key, slug);
    const nowSeconds = () => Math.floor(runtime.now() / 1000);
    const envelope = {
      id: this.#id,
      createdSeconds: nowSeconds(),
      nowSeconds,
      slug,
      estimateInputTokens: () => 0,
      previousResponseId: followUp?.previousResponseId ?? null,
      keep: null,
    };
    const writer = responses.createStreamWriter(envelope, {
      body,
      outline: body,
      bytes: this.#request,
      model: slug,
      modelRange: null,
      stream: true,
    });
    this.#reply.endStream(Buffer.from(writer.finish(null)));
  }

  #end(): void {
    this.#isOver = true;
    this.#body.release();
  }
}

/** One `response.create` event of a client. */
type Turn = {
  /** Turns with the same ID run one after another. Null if the client sent none. */
  streamId: string | null;
  /** The body of the equivalent streamed HTTP request. */
  bytes: Buffer;
  /** Whether the turn only submits input for later turns, with `generate: false`. */
  isWarmUp: boolean;
};

/**
 * Parses a client's message. Throws a `GatewayError` for an invalid message.
 * https://developers.openai.com/api/docs/guides/websocket-mode
 */
export function readTurn(message: Buffer, limits: BodyLimits): Turn {
  const parsed = parseBody(message, limits, () => {});
  const { type, stream_id: streamId = null, generate, ...body } = parsed;
  if (type !== "response.create") {
    throw invalidValue("type", "must be response.create", type);
  }
  if (streamId !== null && (typeof streamId !== "string" || streamId.length > streamIdCharactersMax)) {
    throw invalidValue(
      "stream_id",
      `must be a string of at most ${streamIdCharactersMax} characters`,
      streamId,
    );
  }
  const bytes = Buffer.from(JSON.stringify({ ...body, stream: true }));
  return { streamId, bytes, isWarmUp: generate === false };
}

const streamIdCharactersMax = 128;
