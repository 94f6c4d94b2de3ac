import { GatewayError } from "../errors.ts";
import { readRetryAfterMs } from "../upstream/read-retry-after.ts";
import { hideSecret } from "../upstream/hide-secret.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import { isObject, parseJson } from "../wire/json.ts";

/**
 * An upstream's answer that is not a success, as the error the client gets. What the upstream says about the request is
 * the client's to know; what it says about our credential or itself is not.
 * @param speaker who said it: its own form of errors is passed on where it is OpenAI's
 */
export function readUpstreamError(
  status: number,
  headers: UpstreamHeaders,
  body: Buffer,
  speaker: ErrorSpeaker,
): GatewayError {
  const parsed = parseJson(body.toString("utf8"));
  const meant = speaker.meantStatus?.(status, parsed) ?? status;
  const reason = `http_${meant}` as const;
  if (meant === 401 || meant === 402 || meant === 403) {
    return new GatewayError(
      "upstream_auth_failed",
      "The model's provider refused the gateway's own credential. Whoever runs the gateway has to check it.",
      { reason },
    );
  }
  if (meant < 400 || meant > 499) {
    return new GatewayError("upstream_error", `The model's provider answered with HTTP status ${meant}.`, {
      reason,
    });
  }
  const { message, type, param, code } = readErrorMembers(parsed, speaker.secret);
  const retryAfterMs = readRetryAfterMs(headers);
  const isNative = speaker.form === "native";
  return new GatewayError(
    "upstream_rejected",
    message ?? `The model's provider refused the request with HTTP status ${meant}.`,
    {
      reason,
      upstream: {
        status: meant,
        type: (isNative ? type : null) ?? (meant === 429 ? "requests" : "invalid_request_error"),
        param: isNative ? param : null,
        code: isNative ? code : meant === 429 ? "rate_limit_exceeded" : null,
      },
      ...(retryAfterMs !== null && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
    },
  );
}

export type ErrorSpeaker = {
  /** Whether it speaks the client's form. */
  form: "native" | "translated";
  /** Our credential, which it may quote. */
  secret: string | null;
  meantStatus?: ((status: number, body: unknown) => number) | undefined;
};

/** An error that was made of what an upstream said, without our credential. */
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

/** Keys of the usual forms are removed too: an upstream may quote one of its own. */
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
};

/** OpenAI's form, and what others make of it: a text for an error, a number for a code, a list with the error in it. */
function readErrorMembers(parsed: unknown, secret: string | null): ErrorMembers {
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isObject(body) ? (body["error"] ?? body) : null;
  if (typeof error === "string") {
    return { message: withoutSecrets(error, secret), type: null, param: null, code: null };
  }
  if (!isObject(error)) return { message: null, type: null, param: null, code: null };
  // AWS writes `message` with a small or a capital letter.
  const { message = error["Message"], type, param, code } = error;
  return {
    message: typeof message === "string" ? withoutSecrets(message, secret) : null,
    type: toName(type, secret),
    param: toName(param, secret),
    code: toName(code, secret),
  };
}

/** What can be a type, a parameter or a code; anything else is left out. */
function toName(name: unknown, secret: string | null): string | null {
  const text = typeof name === "number" ? String(name) : name;
  if (typeof text !== "string" || !/^[\w.[\]-]{1,64}$/.test(text)) return null;
  return secret !== null && hideSecret(text, secret) !== text ? null : text;
}

const messageLengthMax = 4_096;
