import { isObject } from "../../wire/chat-completion.ts";

/** Google answers 400 to a key that it does not know, as to a request that is wrong. */
export function meantStatus(status: number, body: unknown): number {
  return status === 400 && errorReasons(body).includes("API_KEY_INVALID") ? 401 : status;
}

/** The body is an object, or an array with that object in it. https://google.aip.dev/193 */
function errorReasons(body: unknown): unknown[] {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) ? outer["error"] : null;
  const details = isObject(error) ? error["details"] : null;
  return Array.isArray(details)
    ? details.map((detail: unknown) => (isObject(detail) ? detail["reason"] : null))
    : [];
}
