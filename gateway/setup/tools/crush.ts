import { keyPlaceholder } from "../setup-plan.ts";
import { ownText, type ToolSetup } from "../tool-setup.ts";

export const crush: ToolSetup = {
  name: "Crush",
  checkedWith: {
    version: "0.96",
    month: "November 2026",
    documentation: "https://github.com/charmbracelet/crush/blob/main/docs/config/README.md",
  },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models }) => ({
    program: "crush",
    install: "npm install -g @charmland/crush",
    files: [
      // Crush runs plugins in its own shell, so this file also works on Windows.
      {
        folder: { variable: "XDG_CONFIG_HOME", home: [".config"] },
        path: ["crush", "plugins", "gateway.sh"],
        format: "own",
        text: ownText([
          `provider add gateway --name Gateway --type openai-compat --base-url '${baseUrl}/v1' --api-key '${keyPlaceholder}'`,
          ...models.connected.map(
            ({ slug, contextWindow }) =>
              `model add 'gateway/${slug}'${contextWindow === null ? "" : ` --context-window ${contextWindow}`}`,
          ),
          `model large 'gateway/${models.daily.slug}'`,
          `model small 'gateway/${models.light.slug}'`,
        ]),
      },
    ],
    next: "Restart Crush: crush",
  }),
  verify: ['crush run "say hi" prints an answer.', "crush models lists the gateway's models."],
  notes: () => [
    "The setup is a plugin, which requires Crush 0.86 or later. Settings in your own crushrc take precedence.",
  ],
};
