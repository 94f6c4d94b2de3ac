import { type Json, keyPlaceholder } from "../setup-plan.ts";
import { contextWindowAssumed, setMembers, type ToolSetup } from "../tool-setup.ts";
import type { SetupModel } from "../setup-input.ts";

/** https://zed.dev/docs/ai/use-api-access and https://zed.dev/docs/ai/agent-settings */
export const zed: ToolSetup = {
  name: "Zed",
  checkedWith: {
    month: "November 2026",
    documentation: "https://zed.dev/docs/ai/use-api-access",
  },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models, operatingSystem }) => ({
    files: [
      {
        folder: settingsFolder[operatingSystem],
        path: [operatingSystem === "windows" ? "Zed" : "zed", "settings.json"],
        format: "jsonc",
        operations: [
          ...setMembers(["language_models", "openai_compatible", "gateway"], {
            api_url: `${baseUrl}/v1`,
            available_models: models.connected.map(toEntry),
          }),
          { do: "set", path: ["agent", "default_model"], value: choice(models.daily) },
          { do: "set", path: ["agent", "thread_summary_model"], value: choice(models.light) },
          { do: "set", path: ["agent", "commit_message_model"], value: choice(models.light) },
        ],
      },
    ],
    // Zed reads the key from the keychain, or from a variable named after the provider `gateway`.
    environment: { variables: { GATEWAY_API_KEY: keyPlaceholder }, remove: [], load: "always" },
    next:
      operatingSystem === "posix"
        ? "Open a new terminal and start: zed (or enter the key in Settings > AI > LLM Providers > gateway)"
        : "Restart Zed",
  }),
  verify: ["The Agent Panel lists the gateway's models, and a prompt in it gets an answer."],
  notes: () => [
    "Zed started from the desktop may not see the variable. Enter the key once in Settings > AI > LLM Providers > gateway.",
  ],
};

const settingsFolder = {
  posix: { variable: "XDG_CONFIG_HOME", home: [".config"] },
  windows: { variable: "APPDATA", home: ["AppData", "Roaming"] },
};

function toEntry({ slug, contextWindow, outputTokensMax, canCallTools }: SetupModel): Json {
  return {
    name: slug,
    display_name: slug,
    max_tokens: contextWindow ?? contextWindowAssumed,
    ...(outputTokensMax !== null && { max_output_tokens: outputTokensMax }),
    capabilities: {
      tools: canCallTools !== false,
      images: false,
      parallel_tool_calls: false,
      prompt_cache_key: false,
    },
  };
}

function choice({ slug }: SetupModel): Json {
  return { provider: "gateway", model: slug };
}
