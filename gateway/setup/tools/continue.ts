import { keyPlaceholder } from "../setup-plan.ts";
import type { SetupModel } from "../setup-input.ts";
import { ownText, type ToolSetup } from "../tool-setup.ts";

/** https://docs.continue.dev/reference */
export const continueCli: ToolSetup = {
  name: "Continue",
  checkedWith: { version: "1.5.47", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models, operatingSystem }) => ({
    program: "cn",
    install: "npm install -g @continuedev/cli",
    files: [
      {
        folder: continueFolder,
        path: ["config.yaml"],
        format: "own",
        text: ownText([
          "name: Gateway",
          "version: 1.0.0",
          "schema: v1",
          "models:",
          ...entry(models.daily, baseUrl, "chat, edit, apply"),
          ...entry(models.light, baseUrl, "summarize, autocomplete"),
        ]),
        otherwise: { folder: continueFolder, path: ["configs", "gateway.yaml"] },
      },
      {
        folder: continueFolder,
        path: [".env"],
        format: "env",
        operations: [{ do: "set", name: "GATEWAY_API_KEY", value: keyPlaceholder }],
      },
    ],
    next: `Restart Continue: cn (or cn --config ${ownConfig[operatingSystem]}, if that file was created)`,
  }),
  verify: ['cn -p "say hi" prints an answer.'],
  notes: () => [
    "YAML cannot be merged safely. An existing config.yaml stays unchanged, and the gateway settings are written to configs/gateway.yaml beside it.",
  ],
};

const continueFolder = { variable: "CONTINUE_GLOBAL_DIR", home: [".continue"] };

const ownConfig = {
  posix: "~/.continue/configs/gateway.yaml",
  // Windows PowerShell 5.1 does not expand ~ in arguments.
  windows: '"$env:USERPROFILE\\.continue\\configs\\gateway.yaml"',
};

function entry({ slug }: SetupModel, baseUrl: string, roles: string): string[] {
  return [
    `  - name: ${JSON.stringify(slug)}`,
    "    provider: openai",
    `    model: ${JSON.stringify(slug)}`,
    `    apiBase: ${JSON.stringify(`${baseUrl}/v1`)}`,
    "    apiKey: ${{ secrets.GATEWAY_API_KEY }}",
    `    roles: [${roles}]`,
  ];
}
