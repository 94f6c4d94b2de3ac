import { type Json, keyPlaceholder } from "../setup-plan.ts";
import type { SetupModel } from "../setup-input.ts";
import type { ToolSetup } from "../tool-setup.ts";

/** https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/models.md */
export const pi: ToolSetup = {
  name: "Pi",
  checkedWith: { version: "0.87.1", month: "November 2026" },
  dialect: "chat",
  workloads: ["daily"],
  plan: ({ baseUrl, models }) => ({
    program: "pi",
    install: "npm install -g @earendil-works/pi-coding-agent",
    files: [
      {
        folder: agentFolder,
        path: ["models.json"],
        format: "jsonc",
        operations: [
          { do: "set", path: ["providers", "gateway", "baseUrl"], value: `${baseUrl}/v1` },
          { do: "set", path: ["providers", "gateway", "api"], value: "openai-completions" },
          // auth.json takes precedence, but Pi 0.74, the newest for Node 20, requires a key here.
          { do: "set", path: ["providers", "gateway", "apiKey"], value: "stored in auth.json" },
          { do: "set", path: ["providers", "gateway", "models"], value: models.connected.map(toEntry) },
        ],
      },
      {
        folder: agentFolder,
        path: ["auth.json"],
        format: "json",
        operations: [{ do: "set", path: ["gateway"], value: { type: "api_key", key: keyPlaceholder } }],
      },
      {
        folder: agentFolder,
        path: ["settings.json"],
        format: "json",
        operations: [
          { do: "set", path: ["defaultProvider"], value: "gateway" },
          { do: "set", path: ["defaultModel"], value: models.daily.slug },
        ],
      },
    ],
    next: "Restart Pi: pi",
  }),
  verify: ['pi -p "say hi" prints an answer.', "/model in Pi shows the gateway's models."],
};

const agentFolder = { variable: "PI_CODING_AGENT_DIR", home: [".pi", "agent"] };

/** OpenClaw is built on Pi and lists models in the same way. */
export function toEntry({ slug, contextWindow, outputTokensMax }: SetupModel): Json {
  return {
    id: slug,
    ...(contextWindow !== null && { contextWindow }),
    ...(outputTokensMax !== null && { maxTokens: outputTokensMax }),
  };
}
