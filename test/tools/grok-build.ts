import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream } from "./tool-upstreams.ts";

/** Documentation: https://docs.x.ai/build/overview */
export const grokBuild: CodingTool = {
  name: "Grok Build",
  package: "@xai-official/grok",
  version: "1.0.41",
  command: "grok",
  // Grok's title requests force a tool call. Claude models that always reason reject such requests.
  upstreams: [chatUpstream],
  tab: "grok-build",
  isSlow: true,
  environment: { GROK_DISABLE_AUTOUPDATER: "1" },
  run: (prompt) => ["--always-approve", "-p", prompt],
  readFile: (target_file) => ({ name: "read_file", input: { target_file } }),
};
