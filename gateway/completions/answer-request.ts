import { parseBody } from "../dialects/parse-body.ts";
import { GatewayError } from "../errors.ts";
import { toAnswerError } from "../wire/bad-answer.ts";
import { Attempts } from "../routing/attempts.ts";
import { resolveRoute } from "../routing/catalogue.ts";
import { describeDemand } from "./describe-demand.ts";
import type { Exchange } from "./exchange.ts";
import type { AnswerContext, ModelRequest, Operation, ReceivedRequest } from "./operation.ts";

/**
 * The path of a request to a model, from its body to the upstream call. Throws a `GatewayError` for a request that
 * is rejected at once. Uses callbacks, because each promise costs some microseconds.
 */
export function answerRequest(
  context: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  { bytes, headers, followUp }: ReceivedRequest,
): void {
  // 1. Read: the operation parses and checks the body.
  const request = read(context, exchange, operation, bytes);

  // 2. Resolve: the slug becomes a route, an ordered list of candidates.
  const route = resolveRoute(context.catalogue, exchange.key, request.value.model);
  exchange.resolved(route);

  // 3. Admit: the limiter checks rates and budgets, and starts, queues or rejects the request.
  const start = () => {
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
  };
  const { body } = request.value;
  context.limiter.admit(exchange, bytes.length, start, () => describeDemand(route, body, bytes.length));
  request.letGo();

  // 6. Record: the relay ends the exchange, which writes the usage record before the client's last bytes.
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

/** Up to this size, keeping the parsed body costs less than parsing the bytes again. */
const parsedBytesMax = 64 * 1024;
