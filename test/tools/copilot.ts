import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/use-byok-models */
export const copilot: CodingTool = {
  name: "GitHub Copilot CLI",
  package: "@github/copilot",
  version: "1.0.102",
  command: "copilot",
  upstreams: [chatUpstream, claudeUpstream],
  environment: ({ url, apiKey, model }) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: apiKey,
    ...modelVariables(model),
    COPILOT_OFFLINE: "true",
  }),
  run: (prompt) => ["--allow-all-tools", "--no-color", "-p", prompt],
  readFile: (path) => ({ name: "view", input: { path } }),
};

/** Of a model that it does not know it asks for a temperature, which the newer Claudes do not take. */
function modelVariables(slug: string): Record<string, string> {
  const name = slug.slice(slug.indexOf("/") + 1);
  if (!name.startsWith("claude-")) return { COPILOT_MODEL: slug };
  return { COPILOT_PROVIDER_MODEL_ID: name, COPILOT_PROVIDER_WIRE_MODEL: slug };
}
