import { parseBody } from "../dialects/parse-body.ts";
import { GatewayError } from "../errors.ts";
import { isKey, parseShortJson, scanMembers } from "../wire/json.ts";
import type { Exchange } from "./exchange.ts";
import type { AnswerContext, ModelRequest, Operation } from "./operation.ts";

/** Parses the request. Describes even an invalid request to the exchange, for the usage record. */
export function readRequest(
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
export class HeldRequest<Request> {
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

/** Rejects a large body of a key that is over its limit unread, because reading it takes up to 100 ms. */
export function checkBeforeReading(
  { limiter, recordedModelNames }: AnswerContext,
  exchange: Exchange,
  bytes: Buffer,
): void {
  if (bytes.length <= parsedBytesMax) return;
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

/** Up to this size, reading costs little, and keeping the parsed body costs less than parsing the bytes again. */
const parsedBytesMax = 64 * 1024;
const depthMax = 128;
