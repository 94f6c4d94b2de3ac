import type { SetupModel, SetupModels } from "../setup-input.ts";
import { type Json, keyPlaceholder, type PlannedFile } from "../setup-plan.ts";
import { set, setMembers, type ToolSetup } from "../tool-setup.ts";

/** https://opencode.ai/docs/config and https://opencode.ai/docs/providers */
export const openCode: ToolSetup = {
  name: "OpenCode",
  checkedWith: { version: "1.18.33", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily", "hard"],
  plan: ({ baseUrl, models }) => ({
    program: "opencode",
    install: "npm install -g opencode-ai",
    files: openCodeFiles("opencode", "https://opencode.ai/config.json", baseUrl, models),
    next: "Restart OpenCode: opencode",
  }),
  verify: [
    'opencode run "say hi" prints an answer.',
    "/models in OpenCode shows the gateway's models under Gateway.",
    "Plan mode (Tab) uses the model for hard tasks.",
  ],
};

/** OpenCode and its fork Kilo Code read the same settings from different folders. */
export function openCodeFiles(
  name: string,
  schema: string,
  baseUrl: string,
  models: SetupModels,
): PlannedFile[] {
  return [
    {
      folder: { variable: "XDG_CONFIG_HOME", home: [".config"] },
      path: [name, `${name}.json`],
      beatenBy: `${name}.jsonc`,
      format: "jsonc",
      operations: [
        { do: "default", path: ["$schema"], value: schema },
        set(["model"], `gateway/${models.daily.slug}`),
        set(["small_model"], `gateway/${models.light.slug}`),
        set(["agent", "plan", "model"], `gateway/${models.hard.slug}`),
        set(["provider", "gateway", "npm"], "@ai-sdk/openai-compatible"),
        set(["provider", "gateway", "name"], "Gateway"),
        ...setMembers(["provider", "gateway", "options"], {
          baseURL: `${baseUrl}/v1`,
          // With this name, the adapter returns Gemini's thought signatures. Gemini rejects tool calls
          // without signatures.
          name: models.connected.find(({ aiSdkName }) => aiSdkName !== null)?.aiSdkName ?? null,
        }),
        // The tool offers only the models in this list, and does not request the gateway's list.
        set(
          ["provider", "gateway", "models"],
          Object.fromEntries(models.connected.map((model) => [model.slug, limitsOf(model)])),
        ),
      ],
    },
    {
      folder: { variable: "XDG_DATA_HOME", home: [".local", "share"] },
      path: [name, "auth.json"],
      format: "json",
      operations: [set(["gateway"], { type: "api", key: keyPlaceholder })],
    },
  ];
}

/** The tool accepts both numbers or neither. */
function limitsOf({ contextWindow, outputTokensMax }: SetupModel): Json {
  if (contextWindow === null || outputTokensMax === null) return {};
  return { limit: { context: contextWindow, output: outputTokensMax } };
}
