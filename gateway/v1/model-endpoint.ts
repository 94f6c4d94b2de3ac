import type { RequestHandler } from "express";
import { type AnswerContext, answerRequest } from "../completions/answer-request.ts";
import { Exchange } from "../completions/exchange.ts";
import type { OpenExchanges } from "../completions/open-exchanges.ts";
import type { Operation } from "../completions/operation.ts";
import { findClientTool } from "../dialects/client-tool.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import { ClientGoneError, readBody } from "../http/read-body.ts";
import type { UsageRecorder } from "../usage/recording/usage-recorder.ts";
import { checkAddress, endpoint, type KeyOptions, knownKeyOf, logOurTrouble } from "./endpoint.ts";

export type ModelEndpointOptions = KeyOptions &
  AnswerContext & {
    recorder: UsageRecorder;
    openExchanges: OpenExchanges;
    bodyBudget: BodyBudget;
  };

/**
 * An endpoint that calls a model: checks the key, reads the body, and hands both to the domain as an exchange.
 */
export function modelEndpoint(
  options: ModelEndpointOptions,
  operation: Operation,
  dialect: Dialect,
): RequestHandler {
  const { runtime, recorder, observer, openExchanges, bodyBudget, limits } = options;
  return endpoint(
    options,
    async ({ request, response, id, reply, observed }) => {
      const known = knownKeyOf(options, request);
      const key = known instanceof Promise ? await known : known;
      if (recorder.isFull) throw usageCannotBeRecorded();

      const heldBody = bodyBudget.hold(key.id);
      const exchange = new Exchange({
        id,
        key,
        endpoint: operation.endpointName,
        clientTool: findClientTool(request.headers),
        reply,
        recorder,
        observer,
        observed,
        openExchanges,
        heldBody,
      });
      response.on("close", () => {
        if (!response.writableFinished) exchange.cancel();
      });
      try {
        checkAddress(options, key, request);
        const bytes = await readBody(request, limits.requestBodyBytesMax, heldBody);
        exchange.received();
        if (exchange.isOver) return;
        answerRequest(options, exchange, operation, { bytes, headers: request.headers });
      } catch (thrown) {
        if (thrown instanceof ClientGoneError) return exchange.cancel();
        const error = toGatewayError(thrown);
        logOurTrouble(runtime.log, id, error);
        exchange.fail(error);
      }
    },
    dialect,
  );
}

function usageCannotBeRecorded(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "The gateway cannot record usage at the moment. Try again in a moment.",
    { retryAfterSeconds: 5 },
  );
}
