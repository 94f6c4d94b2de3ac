import type { CodingTool } from "./coding-tool.ts";
import { claudeUpstream, responsesUpstream } from "./tool-upstreams.ts";

/** https://developers.openai.com/codex/config-reference */
export const codex: CodingTool = {
  name: "Codex",
  package: "@openai/codex",
  version: "0.169.0",
  command: "codex",
  upstreams: [responsesUpstream, claudeUpstream],
  files: ({ url, apiKey, model }) => ({
    ".codex/config.toml": `model = "${model}"
model_provider = "gateway"
check_for_update_on_startup = false

[model_providers.gateway]
name = "Gateway"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "GATEWAY_API_KEY"

[analytics]
enabled = false
`,
    ".codex/.env": `GATEWAY_API_KEY=${apiKey}\n`,
  }),
  run: (prompt) => ["exec", "--skip-git-repo-check", prompt],
  // It has no tool for that but the shell.
  readFile: (file) => ({ name: "exec_command", input: { cmd: `cat '${file}'` } }),
};
