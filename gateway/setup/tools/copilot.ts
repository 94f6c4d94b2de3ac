import { keyPlaceholder, type PlannedFile } from "../setup-plan.ts";
import type { ToolSetup } from "../tool-setup.ts";

/** https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/use-byok-models */
export const copilot: ToolSetup = {
  name: "GitHub Copilot CLI",
  checkedWith: { version: "1.0.102", month: "November 2026" },
  dialect: "chat",
  workloads: ["daily"],
  plan: ({ baseUrl, models, operatingSystem }) => ({
    program: "copilot",
    install: "npm install -g @github/copilot",
    files: operatingSystem === "posix" ? [keyFile] : [],
    environment: {
      variables: {
        COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
        ...(operatingSystem === "posix"
          ? { COPILOT_PROVIDER_API_KEY_COMMAND: 'tail -n 1 "$HOME/.config/model-gateway/copilot.key"' }
          : { COPILOT_PROVIDER_API_KEY: keyPlaceholder }),
        COPILOT_MODEL: models.daily.slug,
      },
      remove: [
        ...(operatingSystem === "posix"
          ? ["COPILOT_PROVIDER_API_KEY"]
          : ["COPILOT_PROVIDER_API_KEY_COMMAND"]),
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_WIRE_API",
        "COPILOT_PROVIDER_MODEL_ID",
        "COPILOT_PROVIDER_WIRE_MODEL",
      ],
      load: "always",
    },
    next:
      operatingSystem === "posix"
        ? "Open a new terminal, or in this one: . ~/.config/model-gateway/copilot.sh\nThen start: copilot"
        : "Open a new terminal, then start: copilot",
  }),
  verify: ['copilot -p "say hi" prints an answer, without a GitHub login.'],
  notes: () => [
    "Copilot CLI reads environment variables only, so the setup applies to terminals opened after it.",
  ],
};

/** This file keeps the key out of the shell's variables, which every program inherits. */
const keyFile: PlannedFile = {
  folder: { variable: null, home: [".config", "model-gateway"] },
  path: ["copilot.key"],
  format: "own",
  text: `# GitHub Copilot CLI: the gateway's key\n${keyPlaceholder}\n`,
};
