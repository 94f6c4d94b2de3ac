import type { ChatQuirks } from "../../wire/chat-completion.ts";
import { chatCompletionsApi } from "../chat-completions/chat-completions-api.ts";
import { endpointAt, readModelNames } from "../endpoint-at.ts";
import type { Provider } from "../provider.ts";
import { findPreset, presets } from "./presets.ts";

export const openAiCompatible: Provider = {
  label: "OpenAI-compatible",
  fields: { baseUrl: "required", apiKey: "optional" },
  defaultBaseUrl: null,
  versionPath: "/v1",
  presets,
  connect(settings) {
    const preset = findPreset(settings.preset);
    const headers = settings.secret === null ? [] : ["authorization", `Bearer ${settings.secret}`];
    const chat = endpointAt(settings, "/chat/completions", headers);
    const embeddings = endpointAt(settings, "/embeddings", headers);
    const quirks: ChatQuirks = {
      maxTokensName: preset?.maxTokensName ?? "max_completion_tokens",
      developerRole: preset?.developerRole ?? "developer",
      extensions: preset === null ? ["own thoughts"] : (preset.extensions ?? []),
      thinkingSwitch: preset?.thinkingSwitch,
    };
    const alwaysThinking: ChatQuirks = { ...quirks, thinkingSwitch: "low effort" };
    return {
      modelsEndpoint: endpointAt(settings, "/models", headers),
      // Together AI sends an array without an object around it.
      readModelNames: (list) => readModelNames(Array.isArray(list) ? { data: list } : list, "data", "id"),
      chat: ({ name }) =>
        chatCompletionsApi(chat, preset?.alwaysThinks?.test(name) === true ? alwaysThinking : quirks),
      embeddings: () => ({ form: "native", endpoint: embeddings }),
      dialects: preset?.speaksResponses
        ? {
            responses: endpointAt(settings, "/responses", headers),
            "responses/compact": endpointAt(settings, "/responses/compact", headers),
            "responses/input_tokens": endpointAt(settings, "/responses/input_tokens", headers),
          }
        : {},
    };
  },
};
