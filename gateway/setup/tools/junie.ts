import { keyPlaceholder, type PlannedFile } from "../setup-plan.ts";
import { setMembers, type ToolSetup } from "../tool-setup.ts";
import type { SetupModel } from "../setup-input.ts";

export const junie: ToolSetup = {
  name: "Junie",
  checkedWith: {
    version: "3110.7",
    month: "November 2026",
    documentation: "https://junie.jetbrains.com/docs/custom-llm-models.html",
  },
  dialect: "chat",
  workloads: ["light", "daily", "hard"],
  plan: ({ baseUrl, models: { light, daily, hard } }) => ({
    program: "junie",
    install: "npm install -g @jetbrains/junie",
    files: [
      profile("gateway.json", daily, light, baseUrl),
      profile("gateway-hard.json", hard, light, baseUrl),
    ],
    next: "Start Junie: junie --model custom:gateway, or custom:gateway-hard for hard tasks",
  }),
  verify: [
    'junie --model custom:gateway "say hi" prints an answer.',
    "/model in Junie shows gateway and gateway-hard.",
  ],
};

function profile(name: string, model: SetupModel, light: SetupModel, baseUrl: string): PlannedFile {
  return {
    folder: { variable: "JUNIE_HOME", home: [".junie"] },
    path: ["models", name],
    format: "json",
    operations: setMembers([], {
      id: model.slug,
      // Junie appends no path to this URL.
      baseUrl: `${baseUrl}/v1/chat/completions`,
      apiType: "OpenAICompletion",
      apiKey: keyPlaceholder,
      fasterModel: { id: light.slug },
      // Without this header, requests do not identify the tool.
      extraHeaders: { "User-Agent": "junie" },
    }),
  };
}
