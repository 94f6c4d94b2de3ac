import { type ChatRequestBody, isObject } from "../../wire/chat-completion.ts";
import type { UpstreamModel } from "../provider.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { generationConfig } from "./generation-config.ts";
import { googleOptions } from "./google-options.ts";
import { modelTraits } from "./model-traits.ts";
import { toGeminiContents } from "./to-gemini-contents.ts";
import { toGeminiTools } from "./to-gemini-tools.ts";

/** The body of a generateContent request. https://ai.google.dev/api/generate-content#request-body */
export function buildGenerateRequest(body: ChatRequestBody, model: UpstreamModel): object {
  refuseUnsupported(body);
  const traits = modelTraits(model.name);
  return {
    ...toGeminiContents(body.messages, traits),
    ...toGeminiTools(body),
    generationConfig: generationConfig(body, traits),
    cachedContent: googleOptions(body)["cached_content"] ?? undefined,
  };
}

/** What Gemini has nothing like, and would answer otherwise without. */
function refuseUnsupported(body: ChatRequestBody): void {
  const { modalities, logit_bias: bias, functions, web_search_options: search } = body;
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== "text")) {
    throw unsupported("modalities", "The answers of Gemini models come as text only.");
  }
  if (isObject(bias) && Object.keys(bias).length > 0) {
    throw unsupported("logit_bias", "Gemini has nothing like it.");
  }
  if (Array.isArray(functions) && functions.length > 0) {
    throw unsupported("functions", "Use `tools` instead.");
  }
  if (isObject(search)) throw unsupported("web_search_options", "Gemini models are called without a search.");
}
