import { parseBody } from "../dialects/parse-body.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";

/**
 * What a client asks for, as its dialect reads it. Throws what the reader throws, and then the request's record says all the
 * same which model was asked: whoever looks for the mistake should not look for it in the name.
 */
export function readRequest<Read>(
  { askedModels, limits }: Pick<CompleteOptions, "askedModels" | "limits">,
  exchange: Exchange,
  bytes: Buffer,
  read: (bytes: Buffer, jsonDepthMax: number) => Read,
): Read {
  const { requestJsonDepthMax } = limits;
  try {
    return read(bytes, requestJsonDepthMax);
  } catch (error) {
    const body = tryToParse(bytes, requestJsonDepthMax);
    exchange.describe(askedModels.nameOf(body["model"]), body["stream"] === true, body);
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
