import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings */
export const qwenCode: CodingTool = {
  name: "Qwen Code",
  package: "@qwen-code/qwen-code",
  version: "0.24.4",
  command: "qwen",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "qwen-code",
  isSlow: true,
  files: {
    ".qwen/settings.json": JSON.stringify({
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  },
  run: (prompt) => ["--approval-mode", "yolo", "-p", prompt],
  readFile: (file_path) => ({ name: "read_file", input: { file_path } }),
};
