import { toAnswerError } from "../wire/bad-answer.ts";
import { Attempts } from "../routing/attempts.ts";
import { resolveRoute, type Route } from "../routing/catalogue.ts";
import type { Exchange } from "./exchange.ts";
import type {
  AnswerContext,
  FollowUp,
  ModelRequest,
  Operation,
  ReceivedRequest,
  KeptConversation,
} from "./operation.ts";
import { GatewayError } from "../errors.ts";
import { countValues, isKey, parseShortJson, scanMembers, isObject } from "../wire/json.ts";
import { LongTexts } from "../wire/long-texts.ts";
import type { Demand } from "../limits/rates/limiter.ts";
import { attachmentNames, attachmentTokens, textMembers } from "../usage/counting/estimate-input-tokens.ts";

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
  const request = readRequest(context, exchange, operation, received);

  // 2. Resolve: the slug becomes a route, an ordered list of candidates.
  const route = resolveRoute(context.catalogue, exchange.key, request.model);
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
  { bytes: own, headers, heldBody }: ReceivedRequest,
  { request, route, followUp }: ReadRequest,
): void {
  let bytes = own;
  // A parsed body can take twenty times the memory of its bytes, so a large one is dropped, and parsed again when it
  // is needed again.
  let parsed: ModelRequest | null = request;
  const parse = () => parsed ?? parseRequest(context, operation, { bytes, headers });
  // 3. Admit: the limiter checks rates and budgets, and starts, queues or rejects the request.
  const start = () => {
    if (followUp !== null) {
      heldBody.add(Math.max(0, followUp.bytesLength - own.length));
      bytes = followUp.join();
      if (bytes !== own) parsed = readRequest(context, exchange, operation, { bytes, headers });
    }
    // 4. Attempt: another attempt follows only if no upstream processed the request.
    const attempts = new Attempts(context.attempts, route.candidates, {
      prepare(candidate) {
        if (candidate.problem !== null) throw candidate.problem;
        // 5. Relay: each attempt has a relay, which converts the candidate's answer and sends it to the client.
        const call = { context, exchange, request: parse(), headers, followUp };
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
    if (bytes.length > parsedBytesMax) parsed = null;
  };
  const textBytes = request.textBytes ?? own.length;
  // Reading the body may parse it, so only a limiter that needs the description reads it.
  const describe = () => describeDemand(route, parse().body, textBytes, followUp?.kept);
  context.limiter.admit(exchange, followUp?.bytesLength ?? textBytes, start, describe);
  if (bytes.length > parsedBytesMax) parsed = null;

  // 6. Record: the relay ends the exchange, which writes the usage record before the client's last bytes.
}

type ReadRequest = { request: ModelRequest; route: Route; followUp: FollowUp | null };

type RequestBody = Pick<ReceivedRequest, "bytes" | "headers">;

/** Parses the request. Describes even an invalid request to the exchange, for the usage record. */
function readRequest(
  context: AnswerContext,
  exchange: Exchange,
  operation: Operation,
  { bytes, headers }: RequestBody,
): ModelRequest {
  const { catalogue, recordedModelNames } = context;
  const parse = () => parseRequest(context, operation, { bytes, headers });
  try {
    const request = parse();
    const { model, stream } = request;
    const name = catalogue.find(model) ? model : recordedModelNames.nameOf(model);
    // Most records need no estimate, so the parsed body is not kept for it.
    exchange.describe(name, stream, () => operation.estimateInputTokens(parse()));
    return request;
  } catch (error) {
    // Parsing a large body again would block other requests.
    const { model, stream } = isUnreadable(error) ? {} : glance(bytes, bytes.length);
    exchange.describe(recordedModelNames.nameOf(model), stream === true, () => 0);
    throw error;
  }
}

/** Whether a second parse would fail too. */
function isUnreadable(error: unknown): boolean {
  return (
    !(error instanceof GatewayError) || error.code === "invalid_body" || error.code === "request_too_large"
  );
}

function parseRequest(
  { limits }: AnswerContext,
  operation: Operation,
  { bytes, headers }: RequestBody,
): ModelRequest {
  const { "content-type": contentType } = headers;
  return operation.read(bytes, limits, typeof contentType === "string" ? contentType : null);
}

/** Rejects a large body of a key that is over its limit unread, because reading it takes up to 100 ms. */
function checkBeforeReading(
  { limiter, recordedModelNames }: AnswerContext,
  exchange: Exchange,
  bytes: Buffer,
): void {
  if (bytes.length <= parsedBytesMax) return;
  try {
    limiter.check(exchange);
  } catch (error) {
    const { model, stream } = glance(bytes, parsedBytesMax);
    exchange.describe(recordedModelNames.nameOf(model), stream === true, () => 0);
    throw error;
  }
}

/** Reads the model's name and `stream` for the usage record, if they are among the first `bytesMax` bytes. */
function glance(bytes: Buffer, bytesMax: number): { model?: unknown; stream?: unknown } {
  const found: { model?: unknown; stream?: unknown } = {};
  const visit = (keyStart: number, keyEnd: number, start: number, end: number) => {
    for (const name of ["model", "stream"] as const) {
      if (isKey(bytes, keyStart, keyEnd, name)) found[name] = parseShortJson(bytes, start, end);
    }
  };
  const texts = new LongTexts(bytes);
  scanMembers(bytes, 0, bytesMax, depthMax, visit, countValues(Infinity), texts);
  return found;
}

/** Up to this size, reading costs little, and keeping the parsed body costs less than parsing the bytes again. */
const parsedBytesMax = 64 * 1024;
const depthMax = 128;

/** The size and price of a request, to reserve its cost. Null without a candidate. */
function describeDemand(
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
