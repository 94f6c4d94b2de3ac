import { GatewayError } from "../errors.ts";

/**
 * A parameter that an upstream has nothing like, and that would change the answer if it were dropped.
 * @param param where it stands in the request, such as `messages[0].content[1]`
 */
export function unsupported(param: string, why: string): GatewayError {
  return new GatewayError("unsupported_parameter", `Unsupported parameter: '${param}'. ${why}`, { param });
}
