import { openCodeFiles } from "./opencode.ts";
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
    files: openCodeFiles("kilo", "https://app.kilo.ai/config.json", baseUrl, models),
    next: "Restart Kilo: kilo",
  }),
  verify: [
    'kilo run "say hi" prints an answer.',
    "/models in Kilo shows the gateway's models under Gateway.",
  ],
  notes: () => [
    "The command sets up the Kilo CLI. In the VS Code extension, select OpenAI Compatible and enter the gateway URL with /v1, the key and a model slug.",
  ],
};
