import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream, geminiUpstream } from "./tool-upstreams.ts";

/** Documentation: https://code.claude.com/docs/en/settings and https://code.claude.com/docs/en/llm-gateway */
export const claudeCode: CodingTool = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.329",
  command: "claude",
  upstreams: [claudeUpstream, chatUpstream, geminiUpstream],
  tab: "claude-code",
  environment: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  run: (prompt) => ["-p", prompt],
  readFile: (file_path) => ({ name: "Read", input: { file_path } }),
};
