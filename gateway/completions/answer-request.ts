import { parseBody } from "../dialects/parse-body.ts";
import { GatewayError } from "../errors.ts";
import { toAnswerError } from "../wire/bad-answer.ts";
import { Attempts } from "../routing/attempts.ts";
import { resolveRoute, type Route } from "../routing/catalogue.ts";
import { isKey, parseShortJson, scanMembers } from "../wire/json.ts";
import { describeDemand } from "./describe-demand.ts";
import type { Exchange } from "./exchange.ts";
import type { AnswerContext, FollowUp, ModelRequest, Operation, ReceivedRequest } from "./operation.ts";

/**
 * The path of a request to a model, from its body to the upstream call. Throws a `GatewayError` for a request that
 * is rejected at once. Uses callbacks, because each promise costs some microseconds. The result is a promise only for
 * a request that may refer to kept responses.
 */
export function answerRequest(
  context: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  received: ReceivedRequest,
): Promise<void> | void {
  const { bytes, findFollowUp } = received;
  if (bytes.length > parsedBytesMax) checkBeforeReading(context, exchange, bytes);

  // 1. Read: the operation parses and checks the body.
  const request = read(context, exchange, operation, bytes);

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
      request = joined === bytes ? own : read(context, exchange, operation, joined);
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

/** Rejects a large body of a key that is over its limit unread, because reading it takes up to 100 ms. */
function checkBeforeReading(
  { limiter, recordedModelNames }: AnswerContext,
  exchange: Exchange,
  bytes: Buffer,
): void {
  try {
    limiter.check(exchange);
  } catch (error) {
    const { model, stream } = glance(bytes);
    exchange.describe(recordedModelNames.nameOf(model), stream === true, () => ({}));
    throw error;
  }
}

/** Reads the model's name and `stream` for the usage record, if they are among the first bytes of the body. */
function glance(bytes: Buffer): { model?: unknown; stream?: unknown } {
  const found: { model?: unknown; stream?: unknown } = {};
  scanMembers(bytes, 0, parsedBytesMax, depthMax, (keyStart, keyEnd, start, end) => {
    for (const name of ["model", "stream"] as const) {
      if (isKey(bytes, keyStart, keyEnd, name)) found[name] = parseShortJson(bytes, start, end);
    }
  });
  return found;
}

/** Parses the request. Describes even an invalid request to the exchange, for the usage record. */
function read(
  { catalogue, recordedModelNames, limits }: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  bytes: Buffer,
): HeldRequest<ModelRequest> {
  try {
    const request = new HeldRequest(bytes, () => operation.read(bytes, limits));
    const { model, stream } = request.value;
    const name = catalogue.find(model) ? model : recordedModelNames.nameOf(model);
    exchange.describe(name, stream, () => request.value.body);
    return request;
  } catch (error) {
    const body = isUnreadable(error) ? {} : parseBody(bytes, limits, () => {});
    exchange.describe(recordedModelNames.nameOf(body["model"]), body["stream"] === true, () => body);
    throw error;
  }
}

/** Whether a second parse would fail too. */
function isUnreadable(error: unknown): boolean {
  return (
    !(error instanceof GatewayError) || error.code === "invalid_body" || error.code === "request_too_large"
  );
}

/**
 * A request that can release its parsed body and parse the bytes again. The parsed body can take twenty times
 * the memory of the bytes.
 */
class HeldRequest<Request> {
  readonly #bytes: Buffer;
  readonly #read: (bytes: Buffer) => Request;
  #request: Request | null;

  constructor(bytes: Buffer, read: (bytes: Buffer) => Request) {
    this.#bytes = bytes;
    this.#read = read;
    this.#request = read(bytes);
  }

  get value(): Request {
    return this.#request ?? this.#read(this.#bytes);
  }

  letGo(): void {
    if (this.#bytes.length > parsedBytesMax) this.#request = null;
  }
}

/** Up to this size, reading costs little, and keeping the parsed body less than parsing the bytes again. */
const parsedBytesMax = 64 * 1024;
const depthMax = 128;
