import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/models.md */
export const pi: CodingTool = {
  name: "Pi",
  package: "@earendil-works/pi-coding-agent",
  version: "0.87.1",
  command: "pi",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "pi",
  environment: { PI_OFFLINE: "1" },
  run: (prompt) => ["-p", prompt],
  readFile: (path) => ({ name: "read", input: { path } }),
};
