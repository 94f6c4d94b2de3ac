import { keyPlaceholder } from "../setup-plan.ts";
import { setMembers, type ToolSetup } from "../tool-setup.ts";

/**
 * Writes the settings directly, because other users could see the key in the arguments of `cline auth`.
 * https://docs.cline.bot/cline-cli/overview
 */
export const cline: ToolSetup = {
  name: "Cline",
  checkedWith: { version: "3.0.65", month: "November 2026" },
  dialect: "chat",
  workloads: ["daily"],
  plan: ({ baseUrl, models }) => ({
    program: "cline",
    install: "npm install -g cline",
    files: [
      {
        folder: { variable: "CLINE_DATA_DIR", home: [".cline", "data"] },
        path: ["settings", "providers.json"],
        format: "json",
        operations: [
          { do: "default", path: ["version"], value: 1 },
          { do: "set", path: ["lastUsedProvider"], value: "openai-compatible" },
          { do: "default", path: ["modes"], value: {} },
          ...setMembers([...provider, "settings"], {
            provider: "openai-compatible",
            apiKey: keyPlaceholder,
            model: models.daily.slug,
            baseUrl: `${baseUrl}/v1`,
          }),
          // Cline treats a provider without these values as incomplete.
          { do: "default", path: [...provider, "updatedAt"], value: "2026-11-01T00:00:00.000Z" },
          { do: "default", path: [...provider, "tokenSource"], value: "manual" },
        ],
      },
    ],
    next: "Restart Cline: cline",
  }),
  verify: ['cline "say hi" prints an answer.'],
  notes: () => [
    "Cline supports one OpenAI-compatible provider. This setup replaces an existing one.",
    "The command sets up the Cline CLI. In the VS Code extension, select OpenAI Compatible and enter the gateway URL with /v1, the key and a model slug.",
  ],
};

const provider = ["providers", "openai-compatible"];
