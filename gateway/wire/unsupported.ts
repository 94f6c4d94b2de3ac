import { GatewayError } from "../errors.ts";

/**
 * The error for a parameter that the upstream lacks and that would change the answer.
 * @param param its position in the request, such as `messages[0].content[1]`
 */
export function unsupported(param: string, why: string): GatewayError {
  return new GatewayError("unsupported_parameter", `Unsupported parameter: '${param}'. ${why}`, { param });
}
