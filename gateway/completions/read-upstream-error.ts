import { GatewayError } from "../errors.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import { isObject } from "../wire/chat-completion.ts";

/**
 * An upstream's answer that is not a success, as the error the client gets. What the upstream says about the request is
 * the client's to know; what it says about our credential or itself is not.
 */
export function readUpstreamError(status: number, headers: UpstreamHeaders, body: Buffer): GatewayError {
  if (status === 401 || status === 403) {
    return new GatewayError(
      "upstream_auth_failed",
      "The model's provider refused the gateway's own credential. Whoever runs the gateway has to check it.",
    );
  }
  if (status < 400 || status > 499) {
    return new GatewayError("upstream_error", `The model's provider answered with HTTP status ${status}.`);
  }
  const { message, type, param, code } = readErrorMembers(body);
  const retryAfterSeconds = readRetryAfter(headers["retry-after"]);
  return new GatewayError(
    "upstream_rejected",
    message ?? `The model's provider refused the request with HTTP status ${status}.`,
    {
      upstream: { status, type: type ?? "invalid_request_error", param, code },
      ...(retryAfterSeconds !== null && { retryAfterSeconds }),
    },
  );
}

/** An error event in the middle of an upstream's stream. */
export function readUpstreamErrorEvent(payload: Buffer): GatewayError {
  const { message } = readErrorMembers(payload);
  return new GatewayError(
    "upstream_error",
    message ?? "The model's provider reported an error in the middle of its answer.",
  );
}

type ErrorMembers = {
  message: string | null;
  type: string | null;
  param: string | null;
  code: string | null;
};

/** OpenAI's form, and what its imitators make of it: a text for an error, a number for a code. */
function readErrorMembers(body: Buffer): ErrorMembers {
  const parsed = parseJson(body);
  const error = isObject(parsed) ? (parsed["error"] ?? parsed) : null;
  if (typeof error === "string")
    return { message: withoutSecrets(error), type: null, param: null, code: null };
  if (!isObject(error)) return { message: null, type: null, param: null, code: null };
  const { message, type, param, code } = error;
  return {
    message: typeof message === "string" ? withoutSecrets(message) : null,
    type: typeof type === "string" ? type : null,
    param: typeof param === "string" ? param : null,
    code: typeof code === "string" || typeof code === "number" ? String(code) : null,
  };
}

/** Upstreams like to quote the key they were sent. */
function withoutSecrets(message: string): string {
  return message
    .replaceAll(/\b(sk|gsk|xai|key|pk|rk)[-_][\w*.-]{8,}/gi, "[key removed]")
    .slice(0, messageLengthMax);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3), which is left out: the SDKs' own waiting is as good. */
function readRetryAfter(value: string | string[] | undefined): number | null {
  const seconds = Number(Array.isArray(value) ? value[0] : value);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : null;
}

const messageLengthMax = 4_096;
