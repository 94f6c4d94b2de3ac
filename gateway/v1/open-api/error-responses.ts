import type { Dialect } from "../../dialects/dialect.ts";
import type { ErrorCode } from "../../errors.ts";
import { describeError } from "../error-response.ts";

/** Errors by status, as `/v1` returns them. */
export function errorResponses(codes: readonly ShownErrorCode[], dialect: Dialect): object {
  const isAnthropic = dialect?.endpointName === "messages";
  const schema = { $ref: `#/components/schemas/${isAnthropic ? "AnthropicError" : "Error"}` };
  const byStatus = new Map<number, string[]>();
  for (const code of codes) {
    const shown = describeError(code, dialect);
    const name = isAnthropic || shown.code === null ? "" : `\`${shown.code}\`: `;
    byStatus.set(shown.status, [...(byStatus.get(shown.status) ?? []), name + meanings[code]]);
  }
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, said]) => [
        status,
        {
          description: said.join("\n\n"),
          headers: {
            "x-request-id": { $ref: "#/components/headers/x-request-id" },
            ...([429, 503].includes(status) && {
              "retry-after": { $ref: "#/components/headers/retry-after" },
            }),
          },
          content: { "application/json": { schema } },
        },
      ]),
  );
}

export const keyErrors = [
  "missing_api_key",
  "invalid_api_key",
  "service_unavailable",
  "internal_error",
] as const;

export const bodyErrors = [
  "invalid_body",
  "missing_required_parameter",
  "invalid_type",
  "invalid_value",
  "request_timeout",
  "request_too_large",
  "unsupported_encoding",
] as const;

export const modelErrors = [
  "unsupported_parameter",
  "model_not_found",
  "insufficient_quota",
  "rate_limit_exceeded",
  "token_limit_exceeded",
  "upstream_auth_failed",
  "upstream_error",
  "upstream_timeout",
] as const;

/** A missing code fails to compile. */
const meanings = {
  missing_api_key: "The request has no API key.",
  invalid_api_key:
    "The key is unknown, malformed, deactivated or expired, or may not be used from this address.",
  service_unavailable: "The gateway cannot serve just now. Try again in a moment.",
  internal_error: "A mistake of the gateway; its log has the details, under the request's id.",
  invalid_body: "The body is not JSON, not an object, or nested too deeply.",
  missing_required_parameter: "A parameter is missing; `param` says which.",
  invalid_type: "A parameter is of the wrong type; `param` says which.",
  invalid_value: "A parameter has a value that it cannot have; `param` says which.",
  request_timeout: "The request took too long to arrive.",
  request_too_large: "The body is larger than `REQUEST_BODY_BYTES_MAX`.",
  unsupported_encoding: "The body is compressed.",
  unsupported_parameter: "The model's provider has no way to do this; `param` says what.",
  model_not_found: "There is no such model, or the key is not connected to it.",
  insufficient_quota: "A budget is spent: the key's own, its owner's or the gateway's.",
  rate_limit_exceeded: "Too many requests a minute, or at the same time.",
  token_limit_exceeded: "Too many tokens a minute.",
  upstream_auth_failed: "The provider refused the gateway's credential.",
  upstream_error: "The provider failed, or could not be reached.",
  upstream_timeout: "The provider took too long.",
} as const;

type ShownErrorCode = keyof typeof meanings & ErrorCode;

export const responseHeaders = {
  "x-request-id": {
    description: "The request's id, which is that of its usage record.",
    schema: { type: "string", pattern: "^req_" },
  },
  "retry-after": { description: "Seconds after which it may go better.", schema: { type: "integer" } },
};
