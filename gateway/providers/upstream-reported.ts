import { GatewayError } from "../errors.ts";

/** An error that an upstream reports within its stream. Quoted credentials are removed later. */
export function upstreamReported(message: unknown): GatewayError {
  return new GatewayError(
    "upstream_error",
    typeof message === "string" && message !== ""
      ? message
      : "The provider reported an error in its response. Retry the request.",
    { reason: "reported_error" },
  );
}
