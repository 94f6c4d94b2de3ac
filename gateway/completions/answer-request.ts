import { toAnswerError } from "../wire/bad-answer.ts";
import { Attempts } from "../routing/attempts.ts";
import { resolveRoute, type Route } from "../routing/catalogue.ts";
import { describeDemand, checkBeforeReading, type HeldRequest, readRequest } from "./read-request.ts";
import type { Exchange } from "./exchange.ts";
import type { AnswerContext, FollowUp, ModelRequest, Operation, ReceivedRequest } from "./operation.ts";

/**
 * The path of a request to a model, from its body to the upstream call. Throws a `GatewayError` for a request that
 * is rejected at once. Returns a promise only while it finds kept responses, because promises cost some
 * microseconds.
 */
export function answerRequest(
  context: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  received: ReceivedRequest,
): Promise<void> | void {
  const { bytes, findFollowUp } = received;
  checkBeforeReading(context, exchange, bytes);

  // 1. Read: the operation parses and checks the body.
  const request = readRequest(context, exchange, operation, bytes);

  // 2. Resolve: the slug becomes a route, an ordered list of candidates.
  const route = resolveRoute(context.catalogue, exchange.key, request.value.model);
  exchange.resolved(route);
  const known = { request, route };
  if (findFollowUp === null)
    return admit(context, exchange, operation, received, { ...known, followUp: null });
  context.limiter.check(exchange);
  return findFollowUp().then((followUp) => {
    if (!exchange.isOver) admit(context, exchange, operation, received, { ...known, followUp });
  });
}

function admit(
  context: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  { bytes, headers, heldBody }: ReceivedRequest,
  { request: own, route, followUp }: ReadRequest,
): void {
  let request = own;
  // 3. Admit: the limiter checks rates and budgets, and starts, queues or rejects the request.
  const start = () => {
    if (followUp !== null) {
      heldBody.add(Math.max(0, followUp.bytesLength - bytes.length));
      const joined = followUp.join();
      request = joined === bytes ? own : readRequest(context, exchange, operation, joined);
    }
    // 4. Attempt: another attempt follows only if no upstream processed the request.
    const attempts = new Attempts(context.attempts, route.candidates, {
      prepare(candidate) {
        // 5. Relay: each attempt has a relay, which converts the candidate's answer and sends it to the client.
        const call = { context, exchange, request: request.value, headers, followUp };
        const attempt = operation.prepare(call, candidate);
        exchange.attempting(candidate, attempts);
        return attempt;
      },
      refused(candidate, { code, reason }) {
        exchange.attemptFailed(candidate, reason ?? code);
        exchange.observed?.callRefused(code);
        context.observer?.upstreamRefused(candidate.providerName, code);
        if (reason === "private_address") context.privateAddressWarnings.warn(candidate);
      },
      failed: (thrown) => exchange.fail(toAnswerError(thrown)),
    });
    attempts.begin();
    if (request !== own) request.letGo();
  };
  // Reading the body may parse it, so only a limiter that needs the description reads it.
  const describe = () => describeDemand(route, own.value.body, bytes.length, followUp?.kept);
  context.limiter.admit(exchange, followUp?.bytesLength ?? bytes.length, start, describe);
  own.letGo();

  // 6. Record: the relay ends the exchange, which writes the usage record before the client's last bytes.
}

type ReadRequest = { request: HeldRequest<ModelRequest>; route: Route; followUp: FollowUp | null };
