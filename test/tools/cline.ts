import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://docs.cline.bot/cline-cli/overview */
export const cline: CodingTool = {
  name: "Cline",
  package: "cline",
  version: "3.0.65",
  command: "cline",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "cline",
  isSlow: true,
  run: (prompt) => [prompt],
  readFile: (path) => ({ name: "read_files", input: { files: [{ path }] } }),
};
