import type { Dialect } from "../../dialects/dialect.ts";
import type { ErrorCode } from "../../errors.ts";
import { describeError } from "../error-response.ts";
import { eitherOf, holderKinds } from "../../limits/holders.ts";

/** @param also the dialect that the client can select instead */
export function errorResponses(codes: readonly ShownErrorCode[], dialect: Dialect, also?: Dialect): object {
  const isAnthropic = dialect.endpointName === "messages";
  const schema = also ? { anyOf: [schemaOf(dialect), schemaOf(also)] } : schemaOf(dialect);
  const byStatus = new Map<number, string[]>();
  for (const code of codes) {
    const shown = describeError(code, dialect);
    const name = isAnthropic || shown.code === null ? "" : `\`${shown.code}\`: `;
    byStatus.set(shown.status, [...(byStatus.get(shown.status) ?? []), name + meanings[code]]);
  }
  const responses: [status: number | "4XX", descriptions: string[]][] = [...byStatus].toSorted(
    ([a], [b]) => a - b,
  );
  if (codes.includes("upstream_error")) responses.push(["4XX", [rejection]]);
  return Object.fromEntries(
    responses.map(([status, descriptions]) => [
      status,
      {
        description: descriptions.join("\n\n"),
        headers: {
          "x-request-id": { $ref: "#/components/headers/x-request-id" },
          ...((status === 429 || status === 503) && {
            "retry-after": { $ref: "#/components/headers/retry-after" },
          }),
        },
        content: { "application/json": { schema } },
      },
    ]),
  );
}

const rejection = "The provider rejected the request. The status is the provider's.";

function schemaOf({ endpointName }: Dialect): object {
  return { $ref: `#/components/schemas/${endpointName === "messages" ? "AnthropicError" : "Error"}` };
}

export const keyErrors = [
  "missing_api_key",
  "invalid_api_key",
  "rate_limit_exceeded",
  "token_limit_exceeded",
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

const meanings = {
  missing_api_key: "The request has no API key.",
  invalid_api_key: "The key is unknown, malformed, deactivated or expired, or not allowed from this address.",
  service_unavailable: "The gateway is temporarily unavailable. Retry in a moment.",
  internal_error: "Internal error. See the gateway log for this request ID.",
  invalid_body: "The body is not JSON, not an object, or nested too deeply.",
  missing_required_parameter: "A required parameter is missing: see `param`.",
  invalid_type: "A parameter has the wrong type: see `param`.",
  invalid_value: "A parameter has an invalid value: see `param`.",
  request_timeout: "The request took too long to arrive.",
  request_too_large: "The body is larger than `REQUEST_BODY_BYTES_MAX`.",
  unsupported_encoding: "The body has an unsupported `Content-Encoding`.",
  unsupported_parameter: "The provider does not support a parameter: see `param`.",
  model_not_found: "The model does not exist, or the key is not connected to it.",
  previous_response_not_found: "The earlier response is unknown, expired, or another key's.",
  item_not_found: "An item that the input refers to is unknown, expired, or another key's.",
  response_not_found: "The response is unknown, expired, or another key's.",
  insufficient_quota: `A budget of ${eitherOf(holderKinds.map(({ ofKey }) => ofKey))} is exceeded.`,
  rate_limit_exceeded:
    "Too many requests per minute, too many concurrent requests, or requests in progress hold the rest of a budget.",
  token_limit_exceeded: "Too many tokens per minute.",
  upstream_auth_failed: "The provider rejected the gateway's credential.",
  upstream_error: "The provider failed or was unreachable.",
  upstream_timeout: "The provider timed out.",
} as const;

export type ShownErrorCode = keyof typeof meanings & ErrorCode;

export const responseHeaders = {
  "x-request-id": {
    description: "The request ID. It is also the ID of the usage record, if the request has one.",
    schema: { type: "string", pattern: "^req_" },
  },
  "retry-after": { description: "Seconds to wait before retrying.", schema: { type: "integer" } },
};
