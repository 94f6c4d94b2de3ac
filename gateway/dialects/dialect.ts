import { createHash } from "node:crypto";
import type { BytesOrText } from "../wire/bytes.ts";
import type { TokenUsage } from "../wire/token-usage.ts";
import type { GatewayError, UpstreamErrorDetails } from "../errors.ts";
import type { ChatAnswer, EndpointName, UpstreamModel } from "../providers/provider.ts";
import type { ChatRequestBody, ChatUsage, ChunkChoice, ChatQuirks } from "../wire/chat-completion.ts";
import type { BodyLimits } from "./parse-body.ts";
import { isObject } from "../wire/json.ts";

/**
 * An API that clients use. An upstream with the same API receives the client's bytes (`native`). For other
 * upstreams, the request becomes a chat completion and the answer is converted back.
 */
export type Dialect<Request extends DialectRequest = DialectRequest> = {
  /** The path after `/v1/`, and the endpoint's name in usage records. */
  endpointName: EndpointName;
  /**
   * Checks the members that the gateway reads, and rejects members that select another model. Throws
   * `invalid_body`, `request_too_large`, `missing_required_parameter`, `invalid_type` or `invalid_value`.
   */
  readRequest(bytes: Buffer, limits: BodyLimits): Request;
  /**
   * Converts the request to a chat completion. Later steps set `stream` and the upstream's model name. Throws
   * `unsupported_parameter` for a parameter that would change the answer and has no equivalent.
   */
  toChatRequest(request: Request): ChatRequestBody;
  /** The names of the parts that `toChatRequest` drops, separated by commas, or null. */
  droppedIn(request: Request): string | null;
  /** Maps chat completion parameters to the client's names, for error messages. */
  clientParams: Readonly<Record<string, string>>;
  formatAnswer(answer: ChatAnswer, envelope: AnswerEnvelope, request: Request): object;
  createStreamWriter(envelope: AnswerEnvelope, request: Request): StreamWriter;
  native: NativeDialect<Request>;
  formatError(error: ShownError): object;
  /** The last events of the stream, with line endings. `writer` is null for a native stream. */
  formatErrorEvent(error: ShownError, writer: StreamWriter | null): string;
};

export type DialectRequest = {
  /** The first read of the body may parse the bytes. */
  readonly body: Record<string, unknown>;
  /** The body without its long texts, for checks. */
  outline: Record<string, unknown>;
  bytes: Buffer;
  /** The requested slug. */
  model: string;
  /** The slug's position in the bytes. Null if the body differs from the bytes, or has a known member twice. */
  modelRange: { start: number; end: number } | null;
  stream: boolean;
  /** The names of the parts that `readRequest` removed, separated by commas. */
  dropped?: string | null;
};

export type AnswerEnvelope = {
  /** The request's ID, `req_…`. Dialects derive their own IDs from it. */
  id: string;
  createdSeconds: number;
  nowSeconds: () => number;
  slug: string;
  /** Estimates the input tokens until the upstream reports its usage, or if it reports none. */
  estimateInputTokens: () => number;
  previousResponseId: string | null;
  /** Returns false if the response could not be kept. Null if the gateway keeps no response for this request. */
  keep: ((answer: KeptAnswer) => boolean) | null;
};

/** The part of a request's ID that the answer's own IDs share. */
export function idSuffix(requestId: string): string {
  return requestId.replace(/^req_/, "");
}

/**
 * Shortens a function's name to the 64 characters of chat completions. A hash keeps shortened names distinct. The result
 * is deterministic, because a changed name would invalidate the prompt cache.
 */
export function toFunctionName(name: string): string {
  if (name.length <= 64) return name;
  return `${name.slice(0, 55)}_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
}

export type KeptAnswer = {
  response: object & { id: string };
  /** The items of the response, with the sealed reasoning that the client did not request. */
  output: readonly object[];
};

/** Formats the events of one stream for the client, with line endings. */
export type StreamWriter = {
  /**
   * Throws `upstream_error` for an answer that is too long or that the client's format cannot express.
   * @param usage the counts so far
   */
  write(choice: ChunkChoice, usage: Partial<ChatUsage> | null): string;
  /** @param usage includes estimates of the counts that the upstream did not report */
  finish(usage: Partial<ChatUsage> | null): string;
};

/** Relays bytes between the client and an upstream with the same API, and replaces model names. */
export type NativeDialect<Request extends DialectRequest = DialectRequest> = {
  /** Matches the lower-case names of the client headers that the upstream receives. Null for none. */
  forwardedHeaders: RegExp | null;
  /** The body for the upstream, in parts: usually the client's bytes with another model name. */
  buildRequest(request: Request, model: UpstreamModel, quirks: ChatQuirks | null): readonly Buffer[];
  /** Throws a `GatewayError` for an answer in an unexpected format. */
  readAnswer(bytes: Buffer, slug: string): ClientAnswer;
  /** A global pattern that matches the names of JSON members with output text, up to the value's opening quote. */
  outputNames(): RegExp;
  createReader(request: Request, slug: string, meter: OutputMeter): NativeReader;
};

/** Estimates the tokens of output text in unparsed JSON. */
export type OutputMeter = {
  /** @param text Latin-1 text of UTF-8 bytes, with a JSON object between `start` and `end` */
  read(text: string, start: number, end: number): void;
};

export type NativeReader = {
  /**
   * May throw any error for malformed events.
   * @param events one or more complete server-sent events
   */
  read(events: Buffer): NativePiece;
  /** The end of a complete answer whose stream lacks its usual last event. Null for an incomplete answer. */
  end?(): NativePiece | null;
};

export type NativePiece = {
  /** The bytes for the client, up to the end of the stream. May be empty. */
  bytes: BytesOrText;
  usage: TokenUsage | null;
  /** `done` for a complete stream, or the error that ends the stream. Null if the stream continues. */
  ending: "done" | GatewayError | null;
};

export type ClientAnswer = {
  bytes: Buffer;
  usage: TokenUsage | null;
  /** Undefined for JSON. */
  contentType?: string;
};

/** An API without translation: requests and answers pass through, with another name for the model. */
export type RelayedApi<Request extends RelayedRequest = RelayedRequest> = {
  /** The path after `/v1/`, and the endpoint's name in usage records. */
  endpointName: EndpointName;
  /** The operation's name in OpenTelemetry's conventions. */
  telemetryName: string;
  /** Complete the error for a model without this API: it "does not support …. Choose …." */
  wording: { purpose: string; modelKind: string };
  /** Matches the lower-case names of the client headers that the upstream receives. Null for none. */
  forwardedHeaders: RegExp | null;
  /**
   * Throws the same errors as `Dialect.readRequest`.
   * @param contentType the client's header, which describes a body other than JSON
   */
  readRequest(bytes: Buffer, limits: BodyLimits, contentType: string | null): Request;
  /** The members whose text the upstream counts as input, under names of a chat or embeddings request. */
  promptOf(body: Request["body"]): Record<string, unknown>;
  /** The body for the upstream, in parts: usually the client's bytes with another model name. */
  buildRequest(request: Request, model: UpstreamModel): readonly Buffer[];
  /** May throw any error for a malformed answer. */
  readAnswer(bytes: Buffer, slug: string, contentType: string | null): ClientAnswer;
};

export type RelayedRequest = Pick<DialectRequest, "body" | "bytes" | "model" | "stream"> & {
  /** The number of bytes that count as text. Undefined if all do. */
  textBytes?: number;
};

export type ShownError = UpstreamErrorDetails & {
  message: string;
  /** Anthropic's `error.details`, which Anthropic's SDKs read. */
  details: object | null;
  requestId: string;
};

export type DroppedMembers = {
  members: readonly string[];
  isToolDropped(tool: Record<string, unknown>): boolean;
};

/** The names of dropped parts for `x-gateway-dropped`, such as `context_management` and `tools.web_search`. */
export function listDropped(body: Record<string, unknown>, dropped: DroppedMembers): string | null {
  const { tools } = body;
  const members = dropped.members.filter((name) => !isDefault(body[name]));
  const types = (Array.isArray(tools) ? tools : [])
    .filter((tool): tool is Record<string, unknown> => isObject(tool) && dropped.isToolDropped(tool))
    .map(({ type }) => (typeof type === "string" && /^[\w.-]{1,64}$/.test(type) ? `tools.${type}` : "tools"));
  return join([...new Set([...members, ...types])]);
}

/** Translations never truncate, so dropping `truncation: "disabled"` has no effect. */
function isDefault(value: unknown): boolean {
  return value === undefined || value === null || value === "disabled";
}

/** The usage record stores at most 255 characters. */
function join(names: string[]): string | null {
  let length = 0;
  return names.filter((name) => (length += name.length + 2) <= 255).join(", ") || null;
}
