import { GatewayError } from "../errors.ts";
import { badAnswer, credentialRejected } from "../wire/bad-answer.ts";
import { findErrorMessage } from "../wire/error-message.ts";
import { findReportedError } from "../wire/reported-error.ts";
import { readRetryInfoMs } from "../wire/retry-info.ts";
import { readRetryAfterMs } from "../upstream/read-retry-after.ts";
import { hideSecret } from "../upstream/hide-secret.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import { isObject, parseJson, parseShortJson, stringifyJson } from "../wire/json.ts";
import type { Candidate } from "../routing/candidate.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Converts an upstream's error response to the client's error. Forwards messages about the request, but not
 * about the gateway's credential.
 * @param speaker the upstream. The error's type, param and code are forwarded only from a native upstream.
 */
export function readUpstreamError(
  status: number,
  headers: UpstreamHeaders,
  body: Buffer,
  speaker: ErrorSpeaker,
): GatewayError {
  const parsed = parseJson(body.toString("utf8"));
  const effectiveStatus = speaker.effectiveStatus?.(status, parsed) ?? status;
  const reason = `http_${effectiveStatus}` as const;
  if (effectiveStatus === 401 || effectiveStatus === 402 || effectiveStatus === 403) {
    return credentialRejected({ reason });
  }
  const retryAfterMs = readRetryAfterMs(headers) ?? readRetryInfoMs(parsed);
  const wait = retryAfterMs !== null && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) };
  const { message, type, param, code, details } = readErrorMembers(
    parsed ?? plainText(headers, body),
    speaker.secret,
  );
  if (effectiveStatus < 400 || effectiveStatus > 499) {
    const why = message === null ? "" : `: ${message.replace(/\.$/, "")}`;
    return new GatewayError(
      "upstream_error",
      `The provider returned HTTP status ${effectiveStatus}${why}. Retry the request.`,
      { reason, ...wait },
    );
  }
  const isNative = speaker.form === "native";
  return new GatewayError(
    "upstream_rejected",
    message ??
      `The provider rejected the request with HTTP status ${effectiveStatus}. Check the model and the parameters.`,
    {
      reason,
      upstream: {
        status: effectiveStatus,
        type: (isNative ? type : null) ?? (effectiveStatus === 429 ? "requests" : "invalid_request_error"),
        param: isNative ? param : null,
        code: isNative ? code : effectiveStatus === 429 ? "rate_limit_exceeded" : null,
      },
      details,
      ...wait,
    },
  );
}

/** A body that is neither JSON nor a page. Null for other bodies. */
function plainText(headers: UpstreamHeaders, body: Buffer): string | null {
  const text = body.toString("utf8").trim();
  const isPage = text.startsWith("<") || String(headers["content-type"]).includes("html");
  return isPage || text.startsWith("{") || text.startsWith("[") ? null : text;
}

type ErrorSpeaker = {
  form: "native" | "translated";
  /** The provider's key. The upstream may quote it. */
  secret: string | null;
  effectiveStatus?: ((status: number, body: unknown) => number) | undefined;
};

export function errorWithoutSecrets(error: GatewayError, secret: string | null): GatewayError {
  const { code, reason, upstream, withoutAnswer, retryAfterSeconds } = error;
  return new GatewayError(code, withoutSecrets(error.message, secret), {
    reason,
    withoutAnswer,
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
    ...(upstream && {
      upstream: {
        status: upstream.status,
        type: toName(upstream.type, secret) ?? "server_error",
        param: toName(upstream.param, secret),
        code: toName(upstream.code, secret),
      },
    }),
  });
}

/** Removes the secret, and other keys in the usual formats, because an upstream may quote a key of its own. */
function withoutSecrets(message: string, secret: string | null): string {
  return (secret === null ? message : hideSecret(message, secret))
    .replaceAll(/\b(sk|gsk|xai|key|pk|rk)[-_][\w*.-]{8,}/gi, "[key removed]")
    .replaceAll(/[\p{Cc}]+/gu, " ")
    .slice(0, messageLengthMax);
}

/** Reads OpenAI's error format and its variants. An array contains the error as its first element. */
function readErrorMembers(parsed: unknown, secret: string | null) {
  const body: unknown = Array.isArray(parsed) && isObject(parsed[0]) ? parsed[0] : parsed;
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : body;
  const message = findErrorMessage(error) ?? findErrorMessage(body);
  const { type, param, code, details } = isObject(error) ? error : {};
  return {
    message: message === null ? null : withoutSecrets(message, secret),
    type: toName(type, secret),
    param: toName(param, secret),
    code: toName(code, secret),
    details: isObject(details) ? withoutSecretsIn(details, secret) : null,
  };
}

/** Removes secrets from an object. Returns null if it is too deep or too long, or invalid JSON after the removal. */
function withoutSecretsIn(details: object, secret: string | null): object | null {
  const text = stringifyJson(details);
  if (text === null || text.length > messageLengthMax) return null;
  const cleaned = parseJson(withoutSecrets(text, secret));
  return isObject(cleaned) ? cleaned : null;
}

/** Returns null for a name that is missing, long or malformed, or that contains a part of the secret. */
function toName(name: unknown, secret: string | null): string | null {
  const text = typeof name === "number" ? String(name) : name;
  if (typeof text !== "string" || !/^[\w.[\]-]{1,64}$/.test(text)) return null;
  return secret !== null && hideSecret(text, secret) !== text ? null : text;
}

const messageLengthMax = 4_096;

/** Collects an upstream's error response, up to `errorBytesMax`, and fails the exchange with the converted error. */
export class ErrorCollector {
  readonly #exchange: Exchange;
  readonly #status: number;
  readonly #headers: UpstreamHeaders;
  readonly #speaker: ErrorSpeaker;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(exchange: Exchange, status: number, headers: UpstreamHeaders) {
    this.#exchange = exchange;
    this.#status = status;
    this.#headers = headers;
    this.#speaker = speakerOf(exchange.candidate);
    exchange.observed?.callAnswered(status);
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > errorBytesMax) this.finish();
  }

  finish(): void {
    const body = Buffer.concat(this.#chunks);
    if (this.#status === 200) {
      const error = errorInAnswer(body, badAnswer("not an event stream"), this.#exchange.candidate);
      this.#exchange.failOrDivert(error);
    } else this.#exchange.fail(readUpstreamError(this.#status, this.#headers, body, this.#speaker));
  }
}

/** The error that a response with status 200 contains in place of an answer, or else `error`. */
export function errorInAnswer(body: Buffer, error: GatewayError, candidate: Speaker | null): GatewayError {
  const isKnown = error.withoutAnswer !== null && error.withoutAnswer.status !== null;
  const reported = isKnown ? null : findReportedError(parseShortJson(body, 0, body.length));
  return errorWithoutSecrets(reported ?? error, speakerOf(candidate).secret);
}

function speakerOf(candidate: Speaker | null): ErrorSpeaker {
  const chat = candidate?.apis["chat/completions"];
  return {
    form: chat?.quirks === null ? "translated" : "native",
    secret: chat?.endpoint.secret ?? null,
    effectiveStatus: candidate?.effectiveStatus,
  };
}

type Speaker = Pick<Candidate, "apis" | "effectiveStatus">;

const errorBytesMax = 64 * 1024;
