import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream, geminiUpstream } from "./tool-upstreams.ts";

/** Documentation: https://opencode.ai/docs/config and https://opencode.ai/docs/providers */
export const openCode: CodingTool = {
  name: "OpenCode",
  package: "opencode-ai",
  version: "1.18.33",
  command: "opencode",
  upstreams: [chatUpstream, claudeUpstream, geminiUpstream],
  tab: "opencode",
  isSlow: true,
  environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
  run: (prompt) => ["run", prompt],
  readFile: (filePath) => ({ name: "read", input: { filePath } }),
};
