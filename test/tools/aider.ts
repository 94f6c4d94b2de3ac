import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://aider.chat/docs/scripting.html */
export const aider: CodingTool = {
  name: "Aider",
  package: "aider-chat",
  registry: { name: "pypi", pythonAtLeast: [3, 10], pythonBelow: [3, 13] },
  version: "0.86.2",
  command: "aider",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "aider",
  isSlow: true,
  isInRepository: true,
  run: (prompt) => ["--yes-always", "--no-check-update", "--message", prompt],
  // Aider offers the model no tools.
  readFile: null,
};
