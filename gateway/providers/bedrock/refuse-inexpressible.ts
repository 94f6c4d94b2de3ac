import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import {
  type Inexpressible,
  is,
  isEmpty,
  isTextOnly,
  never,
  refuseParameters,
} from "../refuse-parameters.ts";

/** Throws `unsupported_parameter` for what Converse has nothing like, and what would change the answer. */
export function refuseInexpressible(body: ChatRequestBody): void {
  refuseParameters(body, inexpressible);
}

const inexpressible: Inexpressible[] = [
  ["n", is(1), "Models on Bedrock give one answer to a request."],
  ["logprobs", is(false), "Bedrock does not tell probabilities."],
  ["top_logprobs", is(0), "Bedrock does not tell probabilities."],
  ["logit_bias", isEmpty, "Bedrock has nothing like it."],
  ["frequency_penalty", is(0), "Bedrock has nothing like it."],
  ["presence_penalty", is(0), "Bedrock has nothing like it."],
  ["modalities", isTextOnly, "Models on Bedrock answer with text."],
  ["audio", never, "Models on Bedrock answer with text."],
  ["web_search_options", never, "Models on Bedrock do not search the web."],
  ["functions", isEmpty, "Use tools instead."],
  ["function_call", (value) => value === "none" || value === "auto", "Use tool_choice instead."],
];
