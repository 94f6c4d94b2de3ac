import { keyPlaceholder, type TomlOperation } from "../setup-plan.ts";
import type { SetupModel } from "../setup-input.ts";
import { set, type ToolSetup } from "../tool-setup.ts";

/** https://developers.openai.com/codex/config-reference */
export const codex: ToolSetup = {
  name: "Codex",
  checkedWith: { version: "0.169.0", month: "November 2026" },
  dialect: "responses",
  workloads: ["daily", "hard"],
  plan: ({ baseUrl, models }) => ({
    program: "codex",
    install: "npm install -g @openai/codex",
    files: [
      {
        folder: codexHome,
        path: ["config.toml"],
        format: "toml",
        operations: [
          ...useModel(models.daily),
          set(["model_providers", "gateway", "name"], "Gateway"),
          set(["model_providers", "gateway", "base_url"], `${baseUrl}/v1`),
          set(["model_providers", "gateway", "wire_api"], "responses"),
          set(["model_providers", "gateway", "env_key"], "GATEWAY_API_KEY"),
          set(["model_providers", "gateway", "model_catalog_url"], `${baseUrl}/v1/models`),
          set(["features", "api_key_model_discovery"], true),
        ],
      },
      // `codex -p hard` reads this file in addition to config.toml.
      {
        folder: codexHome,
        path: ["hard.config.toml"],
        format: "toml",
        operations: useModel(models.hard),
      },
      {
        folder: codexHome,
        path: [".env"],
        format: "env",
        operations: [{ do: "set", name: "GATEWAY_API_KEY", value: keyPlaceholder }],
      },
    ],
    next: "Restart Codex: codex, or codex -p hard for hard tasks",
  }),
  verify: [
    'codex exec "say hi" prints an answer.',
    "codex -p hard starts with the model for hard tasks.",
    "/status in Codex shows the model and the provider gateway.",
    "/model in Codex lists the key's models.",
  ],
  notes: () => [
    "If Codex reports a missing GATEWAY_API_KEY, its background server is still running: codex app-server daemon restart.",
    "Codex's IDE extension and desktop app use the same files. They read the key from .env, so no shell variable is needed.",
  ],
};

const codexHome = { variable: "CODEX_HOME", home: [".codex"] };

function useModel({ slug, contextWindow }: SetupModel): TomlOperation[] {
  const operations = [set(["model"], slug), set(["model_provider"], "gateway")];
  return contextWindow === null ? operations : [...operations, set(["model_context_window"], contextWindow)];
}
