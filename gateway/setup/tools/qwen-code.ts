import { keyPlaceholder } from "../setup-plan.ts";
import type { ToolSetup } from "../tool-setup.ts";

/** https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings */
export const qwenCode: ToolSetup = {
  name: "Qwen Code",
  checkedWith: { version: "0.24.4", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models }) => ({
    program: "qwen",
    install: "npm install -g @qwen-code/qwen-code",
    files: [
      {
        folder: { variable: "QWEN_HOME", home: [".qwen"] },
        path: ["settings.json"],
        format: "json",
        operations: [
          { do: "set", path: ["env", "GATEWAY_API_KEY"], value: keyPlaceholder },
          {
            do: "replaceEntries",
            path: ["modelProviders", "openai"],
            member: "envKey",
            is: "GATEWAY_API_KEY",
            entries: models.connected.map(({ slug, contextWindow }) => ({
              id: slug,
              name: slug,
              baseUrl: `${baseUrl}/v1`,
              envKey: "GATEWAY_API_KEY",
              ...(contextWindow !== null && { generationConfig: { contextWindowSize: contextWindow } }),
            })),
          },
          { do: "set", path: ["security", "auth", "selectedType"], value: "openai" },
          { do: "set", path: ["model", "name"], value: models.daily.slug },
          { do: "set", path: ["fastModel"], value: models.light.slug },
        ],
      },
    ],
    next: "Restart Qwen Code: qwen",
  }),
  verify: ['qwen -p "say hi" prints an answer.', "/model in Qwen Code shows the gateway's models."],
};
