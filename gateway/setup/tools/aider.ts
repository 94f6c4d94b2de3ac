import { keyPlaceholder, type PlannedFile } from "../setup-plan.ts";
import { ownText, type ToolSetup } from "../tool-setup.ts";

/** https://aider.chat/docs/config/aider_conf.html and https://aider.chat/docs/config/adv-model-settings.html */
export const aider: ToolSetup = {
  name: "Aider",
  checkedWith: { version: "0.86.2", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily", "hard"],
  plan: ({ baseUrl, models: { light, daily, hard }, operatingSystem }) => ({
    program: "aider",
    install: "python3 -m pip install aider-install && aider-install",
    files: [
      homeFile("aider.conf.yml", [
        `openai-api-base: ${JSON.stringify(`${baseUrl}/v1`)}`,
        `openai-api-key: ${JSON.stringify(keyPlaceholder)}`,
        // The first `openai/` selects the API format.
        `model: ${JSON.stringify(`openai/${daily.slug}`)}`,
        `weak-model: ${JSON.stringify(`openai/${light.slug}`)}`,
        `alias: [${JSON.stringify(`light:openai/${light.slug}`)}, ${JSON.stringify(`hard:openai/${hard.slug}`)}]`,
        // Aider lacks prices for the gateway's models, and would warn at each start.
        "show-model-warnings: false",
      ]),
      homeFile("aider.model.settings.yml", [
        "- name: aider/extra_params",
        "  extra_params:",
        // Without this header, requests carry only the name of OpenAI's library.
        "    extra_headers:",
        "      User-Agent: aider",
      ]),
    ],
    next: `Start Aider: aider (or aider --config ${ownConfig[operatingSystem]}, if that file was created)`,
  }),
  verify: ['aider --message "say hi" prints an answer.', "aider --model hard uses the model for hard tasks."],
  notes: () => [
    "YAML cannot be merged safely. An existing .aider.conf.yml stays unchanged, and the gateway settings are written to .config/model-gateway.",
  ],
};

const ownConfig = {
  posix: "~/.config/model-gateway/aider.conf.yml",
  // Windows PowerShell 5.1 does not expand ~ in arguments.
  windows: '"$env:USERPROFILE\\.config\\model-gateway\\aider.conf.yml"',
};

function homeFile(name: string, lines: string[]): PlannedFile {
  return {
    folder: { variable: null, home: [] },
    path: [`.${name}`],
    format: "own",
    text: ownText(lines),
    otherwise: { folder: { variable: null, home: [".config", "model-gateway"] }, path: [name] },
  };
}
