import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://docs.mistral.ai/mistral-vibe/terminal */
export const mistralVibe: CodingTool = {
  name: "Mistral Vibe",
  package: "mistral-vibe",
  registry: { name: "pypi", pythonAtLeast: [3, 12], pythonBelow: [3, 15] },
  version: "2.26.1",
  command: "vibe",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "mistral-vibe",
  isSlow: true,
  environment: { VIBE_ENABLE_UPDATE_CHECKS: "false", VIBE_ENABLE_TELEMETRY: "false" },
  run: (prompt) => ["--auto-approve", "-p", prompt],
  readFile: (path) => ({ name: "read_file", input: { path } }),
};
