import { keyPlaceholder } from "../setup-plan.ts";
import type { SetupModel } from "../setup-input.ts";
import { ownText, type ToolSetup } from "../tool-setup.ts";

/** https://docs.mistral.ai/mistral-vibe/terminal/configuration */
export const mistralVibe: ToolSetup = {
  name: "Mistral Vibe",
  checkedWith: { version: "2.26.1", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models, operatingSystem }) => ({
    program: "vibe",
    install: "uv tool install mistral-vibe",
    files: [
      {
        folder: { variable: "VIBE_HOME", home: [".vibe"] },
        path: ["config.toml"],
        format: "own",
        text: ownText([
          `active_model = ${JSON.stringify(models.daily.slug)}`,
          "",
          "[utility_models]",
          `title = ${JSON.stringify(models.light.slug)}`,
          "",
          "[[providers]]",
          'name = "gateway"',
          `api_base = ${JSON.stringify(`${baseUrl}/v1`)}`,
          'backend = "generic"',
          // A header contains the key, because Vibe otherwise reads keys only from environment variables.
          `extra_headers = { Authorization = "Bearer ${keyPlaceholder}", User-Agent = "mistral-vibe" }`,
          ...models.connected.flatMap(toTable),
        ]),
        otherwise: { folder: ownFolder, path: ["config.toml"] },
      },
    ],
    next: `Start Vibe: vibe (if ${ownPlace[operatingSystem]} was created, set VIBE_HOME to it)`,
  }),
  verify: ['vibe -p "say hi" prints an answer.', "/model in Vibe shows the gateway's models."],
  notes: () => [
    "Vibe's lists of providers and models cannot be merged safely. An existing config.toml stays unchanged, and the gateway settings are written to .config/model-gateway/vibe.",
  ],
};

const ownFolder = { variable: null, home: [".config", "model-gateway", "vibe"] };

const ownPlace = {
  posix: "~/.config/model-gateway/vibe",
  windows: "%USERPROFILE%\\.config\\model-gateway\\vibe",
};

function toTable({ slug, contextWindow }: SetupModel): string[] {
  return [
    "",
    "[[models]]",
    `name = ${JSON.stringify(slug)}`,
    'provider = "gateway"',
    `alias = ${JSON.stringify(slug)}`,
    ...(contextWindow === null ? [] : [`max_context_length = ${contextWindow}`]),
  ];
}
