import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream } from "./tool-upstreams.ts";

/** Documentation: https://moonshotai.github.io/kimi-code/ */
export const kimiCode: CodingTool = {
  name: "Kimi Code",
  package: "@moonshot-ai/kimi-code",
  version: "2.1.0",
  command: "kimi",
  upstreams: [chatUpstream],
  tab: "kimi-code",
  isSlow: true,
  run: (prompt) => ["-p", prompt],
  readFile: (path) => ({ name: "Read", input: { path } }),
};
