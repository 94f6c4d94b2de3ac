import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/models.md */
export const pi: CodingTool = {
  name: "Pi",
  package: "@earendil-works/pi-coding-agent",
  version: "0.87.1",
  command: "pi",
  upstreams: [chatUpstream, claudeUpstream],
  files: ({ url, apiKey, model }) => ({
    ".pi/agent/models.json": JSON.stringify({
      providers: { gateway: { baseUrl: `${url}/v1`, api: "openai-completions", models: [{ id: model }] } },
    }),
    ".pi/agent/auth.json": JSON.stringify({ gateway: { type: "api_key", key: apiKey } }),
    ".pi/agent/settings.json": JSON.stringify({ defaultProvider: "gateway", defaultModel: model }),
  }),
  environment: () => ({ PI_OFFLINE: "1" }),
  run: (prompt) => ["-p", prompt],
  readFile: (path) => ({ name: "read", input: { path } }),
};
