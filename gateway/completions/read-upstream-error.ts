import { GatewayError } from "../errors.ts";
import { readRetryAfterMs } from "../upstream/read-retry-after.ts";
import { hideSecret } from "../upstream/hide-secret.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import { isObject, parseJson, stringifyJson } from "../wire/json.ts";
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
    return new GatewayError(
      "upstream_auth_failed",
      "The provider rejected the gateway's credential. Ask an administrator to check the credential.",
      { reason },
    );
  }
  if (effectiveStatus < 400 || effectiveStatus > 499) {
    return new GatewayError(
      "upstream_error",
      `The provider returned HTTP status ${effectiveStatus}. Retry the request.`,
      {
        reason,
      },
    );
  }
  const { message, type, param, code, details } = readErrorMembers(parsed, speaker.secret);
  const retryAfterMs = readRetryAfterMs(headers);
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
      ...(retryAfterMs !== null && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
    },
  );
}

type ErrorSpeaker = {
  form: "native" | "translated";
  /** The provider's key. The upstream may quote it. */
  secret: string | null;
  effectiveStatus?: ((status: number, body: unknown) => number) | undefined;
};

export function errorWithoutSecrets(error: GatewayError, secret: string | null): GatewayError {
  const { code, reason, upstream } = error;
  const message = withoutSecrets(error.message, secret);
  if (upstream === null) return new GatewayError(code, message, { reason });
  const { status, type, param, code: upstreamCode } = upstream;
  return new GatewayError(code, message, {
    reason,
    upstream: {
      status,
      type: toName(type, secret) ?? "server_error",
      param: toName(param, secret),
      code: toName(upstreamCode, secret),
    },
  });
}

/** Removes the secret, and other keys in the usual formats, because an upstream may quote a key of its own. */
function withoutSecrets(message: string, secret: string | null): string {
  return (secret === null ? message : hideSecret(message, secret))
    .replaceAll(/\b(sk|gsk|xai|key|pk|rk)[-_][\w*.-]{8,}/gi, "[key removed]")
    .slice(0, messageLengthMax);
}

type ErrorMembers = {
  message: string | null;
  type: string | null;
  param: string | null;
  code: string | null;
  details: object | null;
};

const noMembers: ErrorMembers = { message: null, type: null, param: null, code: null, details: null };

/**
 * Reads OpenAI's error format and its variants: a plain string, a numeric code, an array with the error.
 */
function readErrorMembers(parsed: unknown, secret: string | null): ErrorMembers {
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isObject(body) ? (body["error"] ?? body) : null;
  if (typeof error === "string") {
    return { ...noMembers, message: withoutSecrets(error, secret) };
  }
  if (!isObject(error)) return noMembers;
  // AWS uses both `message` and `Message`.
  const { message = error["Message"], type, param, code, details } = error;
  return {
    message: typeof message === "string" ? withoutSecrets(message, secret) : null,
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
    this.#exchange.fail(readUpstreamError(this.#status, this.#headers, body, this.#speaker));
  }
}

function speakerOf(candidate: Candidate | null): ErrorSpeaker {
  const target = candidate?.target;
  if (!target || target instanceof GatewayError) return { form: "native", secret: null };
  const { chat, effectiveStatus } = target;
  return { form: chat.quirks ? "native" : "translated", secret: chat.endpoint.secret, effectiveStatus };
}

const errorBytesMax = 64 * 1024;
