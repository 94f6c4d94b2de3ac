import { GatewayError } from "../errors.ts";
import type { UpstreamHeaders } from "../upstream/upstream-call.ts";
import { isObject } from "../wire/chat-completion.ts";

/**
 * An upstream's answer that is not a success, as the error the client gets. What the upstream says about the request is
 * the client's to know; what it says about our credential or itself is not.
 */
export function readUpstreamError(
  status: number,
  headers: UpstreamHeaders,
  body: Buffer,
  secret: string | null,
): GatewayError {
  if (status === 401 || status === 403) {
    return new GatewayError(
      "upstream_auth_failed",
      "The model's provider refused the gateway's own credential. Whoever runs the gateway has to check it.",
    );
  }
  if (status < 400 || status > 499) {
    return new GatewayError("upstream_error", `The model's provider answered with HTTP status ${status}.`);
  }
  const { message, type, param, code } = readErrorMembers(body, secret);
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
export function readUpstreamErrorEvent(payload: Buffer, secret: string | null): GatewayError {
  const { message } = readErrorMembers(payload, secret);
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
function readErrorMembers(body: Buffer, secret: string | null): ErrorMembers {
  const text = body.toString("utf8");
  const parsed = parseJson(secret === null ? text : text.replaceAll(secret, "[key removed]"));
  const error = isObject(parsed) ? (parsed["error"] ?? parsed) : null;
  if (typeof error === "string") return { message: toMessage(error), type: null, param: null, code: null };
  if (!isObject(error)) return { message: null, type: null, param: null, code: null };
  const { message, type, param, code } = error;
  return { message: toMessage(message), type: toName(type), param: toName(param), code: toName(code) };
}

/** Keys of the usual forms are taken out too: upstreams quote them cut short or in part. */
function toMessage(message: unknown): string | null {
  if (typeof message !== "string") return null;
  return message
    .replaceAll(/\b(sk|gsk|xai|key|pk|rk)[-_][\w*.-]{8,}/gi, "[key removed]")
    .slice(0, messageLengthMax);
}

/** What can be a type, a parameter or a code; anything else is left out. */
function toName(name: unknown): string | null {
  const text = typeof name === "number" ? String(name) : name;
  return typeof text === "string" && /^[\w.[\]-]{1,64}$/.test(text) ? text : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3), which is left out: the SDKs' own waiting is as good. */
function readRetryAfter(value: string | string[] | undefined): number | null {
  const text = Array.isArray(value) ? value[0] : value;
  return text !== undefined && /^\d{1,9}(\.\d+)?$/.test(text) ? Math.ceil(Number(text)) : null;
}

const messageLengthMax = 4_096;
