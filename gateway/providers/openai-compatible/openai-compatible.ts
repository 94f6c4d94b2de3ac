import type { ChatQuirks } from "../../wire/chat-completion.ts";
import { chatCompletionsApi } from "../chat-completions/chat-completions-api.ts";
import { endpointAt, readModelNames } from "../endpoint-at.ts";
import type { ModelApis, NativeApi, Provider } from "../provider.ts";
import { presets } from "./presets.ts";

export const openAiCompatible: Provider = {
  label: "OpenAI-compatible",
  fields: { baseUrl: "required", apiKey: "optional" },
  defaultBaseUrl: null,
  versionPath: "/v1",
  presets,
  connect(settings) {
    // An unknown upstream receives OpenAI's parameter and role names.
    const preset = presets.find(({ name }) => name === settings.preset);
    const headers = settings.secret === null ? [] : ["authorization", `Bearer ${settings.secret}`];
    const at = (path: string): NativeApi => ({ endpoint: endpointAt(settings, path, headers) });
    const chat = endpointAt(settings, "/chat/completions", headers);
    const others: Omit<ModelApis, "chat/completions"> = {
      embeddings: at("/embeddings"),
      ...(preset?.speaksResponses && {
        responses: at("/responses"),
        "responses/compact": at("/responses/compact"),
        "responses/input_tokens": at("/responses/input_tokens"),
      }),
    };
    const quirks: ChatQuirks = {
      maxTokensName: preset?.maxTokensName ?? "max_completion_tokens",
      developerRole: preset?.developerRole ?? "developer",
      extensions: preset === undefined ? ["own thoughts"] : (preset.extensions ?? []),
      thinkingSwitch: preset?.thinkingSwitch,
    };
    const alwaysThinking: ChatQuirks = { ...quirks, thinkingSwitch: "low effort" };
    return {
      modelsEndpoint: endpointAt(settings, "/models", headers),
      // Together AI sends an array without an object around it.
      readModelNames: (list) => readModelNames(Array.isArray(list) ? { data: list } : list, "data", "id"),
      apis: ({ name }) => ({
        ...others,
        "chat/completions": chatCompletionsApi(
          chat,
          preset?.alwaysThinks?.test(name) === true ? alwaysThinking : quirks,
        ),
      }),
    };
  },
};
