import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** https://opencode.ai/docs/config and https://opencode.ai/docs/providers */
export const openCode: CodingTool = {
  name: "OpenCode",
  package: "opencode-ai",
  version: "1.18.33",
  command: "opencode",
  upstreams: [chatUpstream, claudeUpstream],
  files: ({ url, apiKey, model }) => ({
    ".config/opencode/opencode.json": JSON.stringify({
      $schema: "https://opencode.ai/config.json",
      model: `gateway/${model}`,
      small_model: `gateway/${model}`,
      provider: {
        gateway: {
          npm: "@ai-sdk/openai-compatible",
          name: "Gateway",
          options: { baseURL: `${url}/v1` },
          models: { [model]: { limit: { context: 200_000, output: 32_000 } } },
        },
      },
    }),
    ".local/share/opencode/auth.json": JSON.stringify({ gateway: { type: "api", key: apiKey } }),
  }),
  environment: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  run: (prompt) => ["run", prompt],
  readFile: (filePath) => ({ name: "read", input: { filePath } }),
};
