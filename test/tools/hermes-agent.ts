import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://hermes-agent.nousresearch.com/docs */
export const hermesAgent: CodingTool = {
  name: "Hermes Agent",
  package: "hermes-agent",
  registry: { name: "pypi", pythonAtLeast: [3, 11], pythonBelow: [3, 14] },
  version: "0.19.0",
  command: "hermes",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "hermes-agent",
  isSlow: true,
  run: (prompt) => ["chat", "-Q", "--yolo", "-q", prompt],
  readFile: (path) => ({ name: "read_file", input: { path } }),
};
