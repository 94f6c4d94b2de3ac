import { parseBody } from "../dialects/parse-body.ts";
import { GatewayError } from "../errors.ts";
import { isKey, parseShortJson, scanMembers, isObject } from "../wire/json.ts";
import type { Exchange } from "./exchange.ts";
import type { AnswerContext, ModelRequest, Operation, KeptConversation } from "./operation.ts";
import type { Demand } from "../limits/rates/usual-use.ts";
import type { Route } from "../routing/catalogue.ts";
import { attachmentNames, attachmentTokens, textMembers } from "../usage/counting/estimate-input-tokens.ts";

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

/**
 * Describes the size and price of a request for the reservation of its cost. Null without a candidate.
 * @param kept the conversation that the request continues
 */
export function describeDemand(
  route: Route,
  body: Record<string, unknown>,
  bodyBytes: number,
  kept: KeptConversation = { bytes: 0, tokens: null },
): Demand | null {
  // The fallbacks' prices differ, but most requests do not need them.
  const candidate = route.candidates[0]?.[0];
  if (!candidate) return null;
  const isEmbedding = body["messages"] === undefined && candidate.prices.outputPrice === null;
  return {
    prices: candidate.prices,
    inputTokens: guessInputTokens(body, bodyBytes) + (kept.tokens ?? Math.ceil(kept.bytes / bytesPerToken)),
    outputTokensMax: isEmbedding ? 0 : readOutputMax(body),
  };
}

function readOutputMax(body: Record<string, unknown>): number | null {
  const limits = limitNames.map((name) => body[name]).filter((value) => typeof value === "number");
  if (limits.length === 0) return null;
  const choices = body["n"];
  return Math.min(...limits) * (typeof choices === "number" ? Math.max(1, choices) : 1);
}

const limitNames = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

/** Guesses a request's tokens from its bytes, without reading its texts. Attachments count a constant. */
function guessInputTokens(body: Record<string, unknown>, bodyBytes: number): number {
  if (bodyBytes < attachmentBytesMin) return Math.ceil(bodyBytes / bytesPerToken);
  const found: Attachments = { count: 0, length: 0 };
  for (const name of textMembers) findAttachments(found, body[name]);
  const textBytes = Math.max(0, bodyBytes - found.length);
  return Math.ceil(textBytes / bytesPerToken) + found.count * attachmentTokens;
}

type Attachments = { count: number; length: number };

function findAttachments(found: Attachments, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) findAttachments(found, item);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (!attachmentNames.has(name)) findAttachments(found, member);
      else {
        found.count++;
        found.length += lengthOf(member);
      }
    }
  }
}

/** The length of all texts in a value. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 0);
  return isObject(value) ? lengthOf(Object.values(value)) : 0;
}

/** English prose and JSON have about four bytes per token. */
const bytesPerToken = 4;
/** In smaller bodies, attachments do not change the estimate much. */
const attachmentBytesMin = 16 * 1024;
