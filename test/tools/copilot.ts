import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/use-byok-models */
export const copilot: CodingTool = {
  name: "GitHub Copilot CLI",
  package: "@github/copilot",
  version: "1.0.102",
  command: "copilot",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "copilot",
  environment: { COPILOT_OFFLINE: "true" },
  isSetUpByProfile: true,
  run: (prompt) => ["--allow-all-tools", "--no-color", "-p", prompt],
  readFile: (path) => ({ name: "view", input: { path } }),
};
