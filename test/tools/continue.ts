import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream } from "./tool-upstreams.ts";

/** Documentation: https://docs.continue.dev/cli/overview */
export const continueCli: CodingTool = {
  name: "Continue",
  package: "@continuedev/cli",
  version: "1.5.47",
  command: "cn",
  upstreams: [chatUpstream],
  tab: "continue",
  run: (prompt) => ["-p", prompt],
  readFile: (filepath) => ({ name: "Read", input: { filepath } }),
};
