import { GatewayError } from "../errors.ts";

/**
 * What a client asks for, chat completions have no words for, and would change the answer if it were dropped.
 * @param param where it stands in the request, such as `input[0].content[1]`
 */
export function unsupported(param: string, why: string): GatewayError {
  return new GatewayError("unsupported_parameter", `Unsupported parameter: '${param}'. ${why}`, { param });
}
