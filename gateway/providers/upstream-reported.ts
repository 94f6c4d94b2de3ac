import { GatewayError } from "../errors.ts";

/** An error that an upstream reports in the middle of its stream. What it quotes of our credential is taken out later. */
export function upstreamReported(message: unknown): GatewayError {
  return new GatewayError(
    "upstream_error",
    typeof message === "string" && message !== ""
      ? message
      : "The model's provider reported an error in the middle of its answer.",
    { reason: "reported_error" },
  );
}
