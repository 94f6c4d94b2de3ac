import { keyPlaceholder } from "../setup-plan.ts";
import { contextWindowAssumed, setMembers, type ToolSetup } from "../tool-setup.ts";

/** https://goose-docs.ai/docs/getting-started/providers and https://goose-docs.ai/docs/guides/environment-variables */
export const goose: ToolSetup = {
  name: "Goose",
  checkedWith: {
    version: "1.50",
    month: "November 2026",
    documentation: "https://goose-docs.ai/docs/getting-started/providers",
  },
  dialect: "chat",
  workloads: ["daily", "hard"],
  plan: ({ baseUrl, models, operatingSystem }) => ({
    program: "goose",
    files: [
      {
        folder: { variable: null, home: configHome[operatingSystem] },
        path: ["custom_providers", "custom_gateway.json"],
        format: "json",
        operations: setMembers([], {
          name: "custom_gateway",
          engine: "openai",
          display_name: "Gateway",
          api_key_env: "CUSTOM_GATEWAY_API_KEY",
          base_url: `${baseUrl}/v1/chat/completions`,
          // Without this header, requests do not identify the tool.
          headers: { "User-Agent": "goose" },
          supports_streaming: true,
          models: models.connected.map(({ slug, contextWindow }) => ({
            name: slug,
            context_limit: contextWindow ?? contextWindowAssumed,
          })),
        }),
      },
    ],
    environment: {
      variables: {
        CUSTOM_GATEWAY_API_KEY: keyPlaceholder,
        GOOSE_PROVIDER: "custom_gateway",
        GOOSE_MODEL: models.daily.slug,
        GOOSE_PLANNER_PROVIDER: "custom_gateway",
        GOOSE_PLANNER_MODEL: models.hard.slug,
      },
      remove: [],
      load: "always",
    },
    next: "Open a new terminal, then start: goose",
  }),
  verify: ['goose run -t "say hi" prints an answer.', "/plan in Goose uses the model for hard tasks."],
  notes: () => ["In Goose Desktop, choose Gateway under Settings > Models, and enter the key there."],
};

const configHome = {
  posix: [".config", "goose"],
  windows: ["AppData", "Roaming", "Block", "goose", "config"],
};
