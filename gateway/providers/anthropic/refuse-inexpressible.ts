import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import {
  type Inexpressible,
  is,
  isEmpty,
  isTextOnly,
  never,
  refuseParameters,
} from "../refuse-parameters.ts";

/** Throws `unsupported_parameter` for what the Messages API has nothing like, and what would change the answer. */
export function refuseInexpressible(body: ChatRequestBody): void {
  refuseParameters(body, inexpressible);
}

const inexpressible: Inexpressible[] = [
  ["n", is(1), "Claude gives one answer at a time."],
  ["logprobs", is(false), "Claude does not tell probabilities."],
  ["top_logprobs", is(0), "Claude does not tell probabilities."],
  ["logit_bias", isEmpty, "Claude's tokens cannot be weighted."],
  ["frequency_penalty", is(0), "Claude has no penalties."],
  ["presence_penalty", is(0), "Claude has no penalties."],
  ["modalities", isTextOnly, "Claude answers with text only."],
  ["audio", never, "Claude answers with text only."],
  ["functions", isEmpty, "Use tools."],
  ["function_call", (value) => value === "none" || value === "auto", "Use tool_choice."],
  ["web_search_options", never, "The search is OpenAI's own."],
];
