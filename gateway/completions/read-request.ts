import { parseBody } from "../dialects/parse-body.ts";
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
  read: (bytes: Buffer, jsonDepthMax: number) => Read,
): HeldRequest<Read> {
  const { requestJsonDepthMax } = limits;
  try {
    const request = new HeldRequest(bytes, () => read(bytes, requestJsonDepthMax));
    const { body, stream = false } = request.value;
    exchange.describe(askedModels.nameOf(body["model"]), stream, () => request.value.body);
    return request;
  } catch (error) {
    const body = tryToParse(bytes, requestJsonDepthMax);
    exchange.describe(askedModels.nameOf(body["model"]), body["stream"] === true, () => body);
    throw error;
  }
}

function tryToParse(bytes: Buffer, jsonDepthMax: number): Record<string, unknown> {
  try {
    return parseBody(bytes, jsonDepthMax, () => {});
  } catch {
    return {};
  }
}
