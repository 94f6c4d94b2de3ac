import { type BodyLimits, parseBody } from "../dialects/parse-body.ts";
import { GatewayError } from "../errors.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";
import { HeldRequest } from "./held-request.ts";

/**
 * The client's request, as its dialect reads it, and its description for the exchange. Throws what the reader throws; the
 * record of an invalid request names the requested model, too.
 */
export function readRequest<Read extends { body: Record<string, unknown>; stream?: boolean }>(
  { askedModels, limits }: Pick<CompleteOptions, "askedModels" | "limits">,
  exchange: Exchange,
  bytes: Buffer,
  read: (bytes: Buffer, limits: BodyLimits) => Read,
): HeldRequest<Read> {
  try {
    const request = new HeldRequest(bytes, () => read(bytes, limits));
    const { body, stream = false } = request.value;
    exchange.describe(askedModels.nameOf(body["model"]), stream, () => request.value.body);
    return request;
  } catch (error) {
    const body = isUnreadable(error) ? {} : parseBody(bytes, limits, () => {});
    exchange.describe(askedModels.nameOf(body["model"]), body["stream"] === true, () => body);
    throw error;
  }
}

/** Parsed again, it would take the same time to fail the same way. */
function isUnreadable(error: unknown): boolean {
  return (
    !(error instanceof GatewayError) || error.code === "invalid_body" || error.code === "request_too_large"
  );
}
