import { GatewayError } from "../errors.ts";
import { credentialRejected, upstreamReported } from "./bad-answer.ts";
import { findErrorMessage } from "./error-message.ts";
import { isObject } from "./json.ts";
import { readRetryInfoMs } from "./retry-info.ts";

/**
 * Converts an error that an upstream reports inside a response with status 200. Its code or type gives the
 * status. https://openrouter.ai/docs/api/errors
 * @param error OpenAI's error object, a variant of it, or a text
 */
export function reportedError(error: unknown, where: Place = "in its response"): GatewayError {
  const status = statusOf(error);
  if (status === null) return upstreamReported(findErrorMessage(error), where);
  const withoutAnswer = { status };
  if (status === 401 || status === 402 || status === 403) {
    return credentialRejected({ reason: "reported_error", withoutAnswer });
  }
  const { type, param, code } = isObject(error) ? error : {};
  const isRejection = status < 500;
  const usual = usualNames(status);
  const retryAfterMs = readRetryInfoMs(error);
  return new GatewayError(
    isRejection ? "upstream_rejected" : "upstream_error",
    upstreamReported(findErrorMessage(error), where).message,
    {
      reason: "reported_error",
      withoutAnswer,
      upstream: {
        status: isRejection || ownStatuses.has(status) ? status : 502,
        type: nameIn(type) ?? usual.type,
        param: nameIn(param),
        code: nameIn(code) ?? usual.code,
      },
      ...(retryAfterMs !== null && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
    },
  );
}

type Place = "in its response" | "mid-stream";

/** Returns the error of a body without an answer, or null. */
export function findReportedError(body: unknown, where: Place = "in its response"): GatewayError | null {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return null;
  const { error } = first;
  if (isObject(error) || (typeof error === "string" && error !== "")) {
    return reportedError(isObject(error) ? error : first, where);
  }
  return findErrorMessage(first) === null && statusOf(first) === null ? null : reportedError(first, where);
}

function statusOf(error: unknown): number | null {
  if (!isObject(error)) return null;
  const { code, status, type, __type: awsType } = error;
  for (const value of [code, status, error["status_code"], error["statusCode"], error["http_code"]]) {
    const number = typeof value === "number" || /^\d{3}$/.test(String(value)) ? Number(value) : 0;
    if (Number.isInteger(number) && number >= 400 && number <= 599) return number;
  }
  for (const name of [code, status, awsType, type]) {
    const meaning = typeof name === "string" && name.length <= nameCharactersMax ? statusOfName(name) : null;
    if (meaning !== null) return meaning;
  }
  return null;
}

/** Reads the names of OpenAI, Anthropic, Google, AWS and their imitators, in any spelling. */
function statusOfName(name: string): number | null {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, "");
  return statusesOfNames.find(([pattern]) => pattern.test(plain))?.[1] ?? null;
}

const nameCharactersMax = 100;

/** The first match counts, so `server_is_overloaded` precedes `server_error`. */
const statusesOfNames: readonly (readonly [RegExp, number])[] = [
  [/overload|slowdown|atcapacity/, 529],
  [/ratelimit|toomany|throttl|quota|exhausted/, 429],
  [/unavailable|notready|insufficientsystemresource/, 503],
  [/timeout|timedout|deadline/, 504],
  [/billing|payment|credits|balance/, 402],
  [/authenti|unauthori[sz]ed|apikey|unrecognizedclient/, 401],
  [/permission|forbidden|accessdenied/, 403],
  [/notfound/, 404],
  [/toolarge/, 413],
  [/invalid|badrequest|validation|unsupported|contextlength|precondition/, 400],
  [/server|internal|^apierror$|modelerror|modelstreamerror/, 500],
];

/** Clients act on these statuses. Other failures of a provider become 502. */
const ownStatuses = new Set([503, 504, 529]);

function usualNames(status: number): { type: string; code: string | null } {
  if (status === 429) return { type: "requests", code: "rate_limit_exceeded" };
  if (status < 500) return { type: "invalid_request_error", code: null };
  return { type: status === 529 ? "overloaded_error" : "server_error", code: "upstream_error" };
}

function nameIn(value: unknown): string | null {
  return typeof value === "string" && /^[a-z_][\w.[\]-]{0,63}$/i.test(value) ? value : null;
}
