import type { Settings } from "../config/limit-variables.ts";
import { parseBody } from "../dialects/parse-body.ts";
import type { Limiter } from "../limits/rates/limiter.ts";
import type { RecordedModelNames } from "../routing/recorded-model-names.ts";
import { GatewayError } from "../errors.ts";
import { Attempts, type AttemptsOptions } from "../routing/attempts.ts";
import { type Catalogue, resolveRoute } from "../routing/catalogue.ts";
import type { PrivateAddressWarnings } from "../routing/private-address-warnings.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import type { Exchange } from "./exchange.ts";
import {
  type ClientHeaders,
  type FollowUp,
  HeldRequest,
  type ModelRequest,
  type Operation,
  type ResponseKeeper,
} from "./operation.ts";

export type AnswerContext = {
  catalogue: Catalogue;
  recordedModelNames: RecordedModelNames;
  upstreams: Upstreams;
  attempts: AttemptsOptions;
  limits: Settings;
  limiter: Pick<Limiter, "admit">;
  privateAddressWarnings: Pick<PrivateAddressWarnings, "warn">;
  observer: RequestObserver | null;
  /** Null if nothing is kept. */
  keptResponses: ResponseKeeper | null;
};

export type ReceivedRequest = { bytes: Buffer; headers: ClientHeaders; followUp: FollowUp | null };

/**
 * The path of every request for a model, from its body to the upstream's socket. Throws a `GatewayError` for a request that
 * is refused; the caller ends the exchange with it. The function is synchronous because each promise on this path costs
 * every request some microseconds. Only a request that waits for admission continues later.
 */
export function answerRequest(
  context: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  { bytes, headers, followUp }: ReceivedRequest,
): void {
  // 1. Read: the operation's dialect parses and checks the body.
  const request = read(context, exchange, operation, bytes);

  // 2. Resolve: the slug becomes an ordered list of candidates, once.
  const route = resolveRoute(context.catalogue, exchange.key, request.value.model);
  exchange.resolved(route);

  // 3. Admit: limits and budgets let the request in, at once or from a queue.
  context.limiter.admit(exchange, bytes.length, () => {
    // 4. Attempt: candidates are tried in order until one answers. Retries and fallbacks end with the first byte.
    const attempts = new Attempts(context.attempts, route.candidates, {
      prepare(candidate) {
        // 5. Relay: each attempt brings the relay that converts this candidate's answer and sends it to the client.
        const call = { context, exchange, request: request.value, headers, followUp };
        const attempt = operation.prepare(call, candidate);
        exchange.attempting(candidate, attempts);
        return attempt;
      },
      refused(candidate, { code, reason }) {
        exchange.observed?.callRefused(code);
        context.observer?.upstreamRefused(candidate.providerName, code);
        if (reason === "private_address") context.privateAddressWarnings.warn(candidate);
      },
    });
    attempts.begin();
  });
  request.letGo();

  // 6. Record: the relay ends the exchange, which writes the usage record before the client's last bytes.
}

/** Describes the request to the exchange, even an invalid one: its record names the requested model. */
function read(
  { recordedModelNames, limits }: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  bytes: Buffer,
): HeldRequest<ModelRequest> {
  try {
    const request = new HeldRequest(bytes, () => operation.read(bytes, limits));
    const { model, stream } = request.value;
    exchange.describe(recordedModelNames.nameOf(model), stream, () => request.value.body);
    return request;
  } catch (error) {
    const body = isUnreadable(error) ? {} : parseBody(bytes, limits, () => {});
    exchange.describe(recordedModelNames.nameOf(body["model"]), body["stream"] === true, () => body);
    throw error;
  }
}

/** A second parse would take the same time and fail the same way. */
function isUnreadable(error: unknown): boolean {
  return (
    !(error instanceof GatewayError) || error.code === "invalid_body" || error.code === "request_too_large"
  );
}
