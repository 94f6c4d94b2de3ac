import { keyPlaceholder } from "../setup-plan.ts";
import { set, setMembers, type ToolSetup } from "../tool-setup.ts";
import { toEntry } from "./pi.ts";

/** https://docs.openclaw.ai/concepts/model-providers, also in the package's docs folder. */
export const openClaw: ToolSetup = {
  name: "OpenClaw",
  checkedWith: { version: "2026.9.6", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models }) => ({
    program: "openclaw",
    install: "npm install -g openclaw",
    files: [
      {
        folder: { variable: "OPENCLAW_STATE_DIR", home: [".openclaw"] },
        path: ["openclaw.json"],
        format: "jsonc",
        operations: [
          { do: "default", path: ["models", "mode"], value: "merge" },
          ...setMembers(["models", "providers", "gateway"], {
            baseUrl: `${baseUrl}/v1`,
            apiKey: keyPlaceholder,
            api: "openai-completions",
            // Without this header, requests carry only the name of OpenAI's library.
            headers: { "User-Agent": "openclaw" },
            models: models.connected.map(toEntry),
          }),
          set(["agents", "defaults", "model", "primary"], `gateway/${models.daily.slug}`),
          // OpenClaw uses this model for titles and progress messages.
          set(["agents", "defaults", "utilityModel"], `gateway/${models.light.slug}`),
        ],
      },
    ],
    next: "Restart OpenClaw: openclaw gateway restart",
  }),
  verify: [
    'openclaw agent --local --agent main --message "say hi" prints an answer.',
    "openclaw models status shows the gateway's model as the default.",
  ],
  notes: () => [
    "If agents.defaults.models exists in openclaw.json, OpenClaw permits only the models in it. Add the gateway's models there.",
  ],
};
