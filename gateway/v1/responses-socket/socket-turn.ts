import type { IncomingMessage } from "node:http";
import { answerRequest } from "../../completions/answer-request.ts";
import type { Exchange } from "../../completions/exchange.ts";
import type { Operation } from "../../completions/operation.ts";
import { responses } from "../../dialects/responses/responses.ts";
import { toGatewayError } from "../../errors.ts";
import type { HeldBody } from "../../http/body-budget.ts";
import { createId } from "../../ids.ts";
import {
  mayFollowUp,
  readFollowUp,
  readInputItems,
  type ResolvedFollowUp,
} from "../../kept-responses/follow-up.ts";
import type { KnownKey } from "../../keys/authenticate-key.ts";
import { resolveRoute } from "../../routing/catalogue.ts";
import type { JsonItems } from "../../wire/json-items.ts";
import { ObservedRequest } from "../../usage/request-observer.ts";
import { logServerError, failExchange, type ModelEndpointOptions, openExchange, keyOf } from "../endpoint.ts";
import type { Turn } from "./read-turn.ts";
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
  #followUp: ResolvedFollowUp | null = null;
  #exchange: Exchange | null = null;
  isRunning = false;
  #isOver = false;

  constructor(options: SocketTurnOptions, turn: Turn, body: HeldBody, onOver: () => void) {
    const { endpoint, connection, recent } = options;
    this.#options = options;
    this.#turn = turn;
    this.#body = body;
    this.streamId = turn.streamId;
    this.#id = createId("req", endpoint.runtime);
    this.#reply = new SocketReply({
      requestId: this.#id,
      streamId: turn.streamId,
      connection,
      onFinished: (event) => recent.keep(turn.streamId, () => this.#inputItems(), event),
      onOver: (isFailed) => {
        // After a failure, the gateway forgets the previous response, as OpenAI does. The client then sends
        // the whole conversation.
        const { previousResponseId = null } = this.#followUp ?? {};
        if (isFailed && previousResponseId !== null) recent.forget(previousResponseId);
        this.#end();
        onOver();
      },
    });
  }

  /** Never rejects: errors go to the client. */
  async run(): Promise<void> {
    this.isRunning = true;
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
      const { bytes } = this.#turn;
      const findFollowUp = mayFollowUp(bytes) ? () => this.#findFollowUp(key) : null;
      const received = { bytes, headers, heldBody: this.#body, findFollowUp };
      const answering = answerRequest(endpoint, exchange, operation, received);
      if (answering) await answering;
    } catch (thrown) {
      if (this.#exchange) return failExchange(endpoint, this.#exchange, thrown);
      const error = toGatewayError(thrown);
      logServerError(runtime.log, id, error);
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
  async #findFollowUp(key: KnownKey): Promise<ResolvedFollowUp | null> {
    const { endpoint, recent } = this.#options;
    const { limits, keptResponses } = endpoint;
    const find = (id: string) => recent.find(id) ?? keptResponses?.find(key.id, id) ?? null;
    this.#followUp = await readFollowUp(this.#turn.bytes, limits, find);
    return this.#followUp;
  }

  #inputItems(): JsonItems {
    return this.#followUp?.joinInput() ?? readInputItems(this.#turn.bytes);
  }

  /** Answers a turn with `generate: false` without calling the model. Later turns can refer to the answer. */
  async #warmUp(key: KnownKey): Promise<void> {
    const { endpoint } = this.#options;
    const { runtime, limits, catalogue, limiter } = endpoint;
    await limiter.countRequest(key);
    const request = responses.readRequest(this.#turn.bytes, limits);
    resolveRoute(catalogue, key, request.model);
    const followUp = mayFollowUp(request.bytes) ? await this.#findFollowUp(key) : null;
    if (this.#isOver) return;
    if (followUp?.missing) throw followUp.missing;
    const nowSeconds = () => Math.floor(runtime.now() / 1000);
    const envelope = {
      id: this.#id,
      createdSeconds: nowSeconds(),
      nowSeconds,
      slug: request.model,
      estimateInputTokens: () => 0,
      previousResponseId: followUp?.previousResponseId ?? null,
      keep: null,
    };
    const writer = responses.createStreamWriter(envelope, request);
    this.#reply.endStream(Buffer.from(writer.finish(null)));
  }

  #end(): void {
    this.#isOver = true;
    this.#body.release();
  }
}
