import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream } from "./tool-upstreams.ts";

/** Documentation: https://docs.openclaw.ai/cli/agent */
export const openClaw: CodingTool = {
  name: "OpenClaw",
  package: "openclaw",
  version: "2026.9.6",
  command: "openclaw",
  upstreams: [chatUpstream],
  tab: "openclaw",
  isSlow: true,
  run: (prompt) => ["agent", "--local", "--agent", "main", "--message", prompt],
  readFile: (path) => ({ name: "read", input: { path } }),
};
