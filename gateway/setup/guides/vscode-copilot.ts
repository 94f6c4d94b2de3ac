import { keyPlaceholder } from "../setup-plan.ts";
import type { SetupModel } from "../setup-input.ts";
import { contextWindowAssumed, type ToolGuide } from "../tool-setup.ts";

const documentation = "https://code.visualstudio.com/docs/agent-customization/language-models";

/** A guide instead of a script, because VS Code keeps the key in its own secret store. */
export const vscodeCopilot: ToolGuide = {
  name: "VS Code Copilot Chat",
  dialect: "chat",
  workloads: ["light", "daily", "hard"],
  apps: ({ baseUrl, models: { light, daily, hard } }) => {
    const chosen = [...new Map([daily, hard, light].map((model) => [model.slug, model])).values()];
    const group = {
      name: "Gateway",
      vendor: "customendpoint",
      apiKey: keyPlaceholder,
      apiType: "chat-completions",
      models: chosen.map((model) => toEntry(model, baseUrl)),
    };
    return [
      {
        name: "VS Code Copilot Chat",
        version: "1.122",
        documentation,
        steps: [
          "Run Chat: Manage Language Models, and choose Add Models > Custom Endpoint.",
          "Enter the values below. VS Code then opens chatLanguageModels.json.",
          "Merge the models below into that file, save it, and choose a model in the chat's model picker.",
        ],
        fields: [
          { label: "Group name", value: "Gateway" },
          { label: "API key", value: keyPlaceholder },
          { label: "API type", value: "Chat Completions" },
        ],
        file: { path: "chatLanguageModels.json", content: `${JSON.stringify([group], null, 2)}\n` },
      },
    ];
  },
  notes: () => [
    "VS Code replaces the key in the file with a reference to its secret store.",
    "VS Code generates titles and commit messages with its utility models. In VS Code's settings, set chat.utilityModel and chat.utilitySmallModel to the model for light tasks.",
  ],
};

/** Replaces unknown token counts with assumed values, because VS Code requires both counts. */
function toEntry({ slug, contextWindow, outputTokensMax, canCallTools }: SetupModel, baseUrl: string) {
  const output = outputTokensMax ?? outputTokensAssumed;
  return {
    id: slug,
    name: slug,
    url: `${baseUrl}/v1/chat/completions`,
    toolCalling: canCallTools !== false,
    vision: false,
    maxInputTokens: Math.max((contextWindow ?? contextWindowAssumed) - output, 1_000),
    maxOutputTokens: output,
  };
}

const outputTokensAssumed = 16_000;
