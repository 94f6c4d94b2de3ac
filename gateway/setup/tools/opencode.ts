import { openCodeFiles } from "../open-code-settings.ts";
import type { ToolSetup } from "../tool-setup.ts";

/** https://opencode.ai/docs/config and https://opencode.ai/docs/providers */
export const openCode: ToolSetup = {
  name: "OpenCode",
  checkedWith: { version: "1.18.33", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily", "hard"],
  plan: ({ baseUrl, models }) => ({
    program: "opencode",
    install: "npm install -g opencode-ai",
    files: openCodeFiles({ name: "opencode", schema: "https://opencode.ai/config.json", baseUrl, models }),
    environment: null,
    next: "Restart OpenCode: opencode",
  }),
  verify: [
    'opencode run "say hi" prints an answer.',
    "/models in OpenCode shows the gateway's models under Gateway.",
    "Plan mode (Tab) uses the model for hard tasks.",
  ],
};
