import { isObject } from "../../wire/chat-completion.ts";
import type { ChatQuirks } from "../../wire/chat-quirks.ts";
import { chatCompletionsApi } from "../chat-completions/chat-completions-api.ts";
import { endpointAt } from "../endpoint-at.ts";
import type { NetworkProvider } from "../provider.ts";
import { findPreset, presets } from "./presets.ts";

/** OpenAI and everyone who speaks its form: requests and answers go through as they are. */
export const openAiCompatible: NetworkProvider = {
  reach: "network",
  defaultBaseUrl: null,
  presets,
  connect(settings) {
    const preset = findPreset(settings.preset);
    const headers = settings.secret === null ? [] : ["authorization", `Bearer ${settings.secret}`];
    const chat = endpointAt(settings, "/chat/completions", headers);
    const embeddings = endpointAt(settings, "/embeddings", headers);
    const quirks: ChatQuirks = {
      maxTokensName: preset?.maxTokensName ?? "max_completion_tokens",
      developerRole: preset?.developerRole ?? "developer",
      extensions: preset?.extensions ?? [],
    };
    return {
      modelsEndpoint: endpointAt(settings, "/models", headers),
      readModelNames: readOpenAiModelNames,
      chat: () => chatCompletionsApi(chat, quirks),
      embeddings: () => ({ form: "native", endpoint: embeddings }),
      dialects: preset?.speaksResponses ? { responses: endpointAt(settings, "/responses", headers) } : {},
    };
  },
};

/** Together gives the list as it is, everyone else in `data`. */
function readOpenAiModelNames(list: unknown): string[] | null {
  const models = isObject(list) ? list["data"] : list;
  if (!Array.isArray(models)) return null;
  return models.flatMap((model: unknown) =>
    isObject(model) && typeof model["id"] === "string" ? model["id"] : [],
  );
}
