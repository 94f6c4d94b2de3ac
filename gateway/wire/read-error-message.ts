import { isObject, parseJson } from "./json.ts";

/** The message of an error in OpenAI's format or a variant. Null without one. */
export function readErrorMessage(payload: Buffer): string | null {
  const parsed = parseJson(payload.toString("utf8"));
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isObject(body) ? (body["error"] ?? body) : null;
  // AWS spells `message` in both cases.
  const message = isObject(error) ? (error["message"] ?? error["Message"]) : error;
  return typeof message === "string" ? message : null;
}
