import { isObject } from "../../wire/chat-completion.ts";

/**
 * Two client errors of Bedrock's are none of the client's: the model failed (424), mostly with a status of its own, or took
 * too long (408). https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
 */
export function meantStatus(status: number, body: unknown): number {
  if (status === 408) return 504;
  if (status !== 424) return status;
  const original = isObject(body) ? body["originalStatusCode"] : null;
  return typeof original === "number" && original >= 400 && original <= 599 ? original : 500;
}
