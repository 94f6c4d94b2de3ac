import { openCodeFiles } from "../open-code-settings.ts";
import type { ToolSetup } from "../tool-setup.ts";

/** https://kilo.ai/docs/code-with-ai/platforms/cli */
export const kiloCode: ToolSetup = {
  name: "Kilo Code",
  checkedWith: { version: "7.7.7", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily", "hard"],
  plan: ({ baseUrl, models }) => ({
    program: "kilo",
    install: "npm install -g @kilocode/cli",
    files: openCodeFiles({ name: "kilo", schema: "https://app.kilo.ai/config.json", baseUrl, models }),
    environment: null,
    next: "Start Kilo again: kilo",
  }),
  verify: ['kilo run "say hi" gives an answer.', "/models in Kilo shows the gateway's models under Gateway."],
  notes: () => [
    "This is for Kilo's command line. In the extension for VS Code choose OpenAI Compatible in the settings, and give the gateway's address with /v1, the key and a slug.",
  ],
};
