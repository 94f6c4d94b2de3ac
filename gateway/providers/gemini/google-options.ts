import { type ChatRequestBody, isObject } from "../../wire/chat-completion.ts";

/**
 * What clients of Google's own imitation of chat completions say to Gemini alone: `cached_content` and `thinking_config`.
 * https://ai.google.dev/gemini-api/docs/openai#extra-body
 */
export function googleOptions(body: ChatRequestBody): Record<string, unknown> {
  const extra = body["extra_body"];
  const options = isObject(extra) ? extra["google"] : null;
  return isObject(options) ? options : {};
}
