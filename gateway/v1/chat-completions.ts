import type { RequestHandler } from "express";
import { type CompleteOptions, complete } from "../completions/complete.ts";
import { Exchange } from "../completions/exchange.ts";
import type { OpenExchanges } from "../completions/open-exchanges.ts";
import type { AuthenticateKeyOptions } from "../auth/authenticate-key.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import { endpoint, keyOf, logOurTrouble } from "./endpoint.ts";
import { ClientGoneError, readBody } from "./read-body.ts";

export type ChatCompletionsOptions = AuthenticateKeyOptions &
  CompleteOptions & { recorder: UsageRecorder; openExchanges: OpenExchanges };

/** `POST /v1/chat/completions` */
export function chatCompletions(options: ChatCompletionsOptions): RequestHandler {
  const { runtime, recorder, openExchanges, limits } = options;
  return endpoint(options, async ({ request, response, id, reply }) => {
    const known = keyOf(options, request);
    const key = known instanceof Promise ? await known : known;
    if (recorder.isFull) throw usageCannotBeRecorded();

    const exchange = new Exchange({
      id,
      key,
      endpoint: "chat/completions",
      reply,
      runtime,
      recorder,
      openExchanges,
    });
    response.on("close", () => {
      if (!response.writableFinished) exchange.cancel();
    });
    try {
      const body = await readBody(request, limits.requestBodyBytesMax);
      exchange.noteReceived();
      if (!exchange.isOver) complete(options, exchange, body);
    } catch (thrown) {
      if (thrown instanceof ClientGoneError) return exchange.cancel();
      const error = toGatewayError(thrown);
      logOurTrouble(runtime.log, id, error);
      exchange.fail(error);
    }
  });
}

function usageCannotBeRecorded(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "The gateway cannot record usage at the moment. Try again in a moment.",
    {
      retryAfterSeconds: 5,
    },
  );
}
