import type { CodingTool } from "./coding-tool.ts";
import { azureUpstream, claudeUpstream, codexUpstream, geminiUpstream } from "./tool-upstreams.ts";

/** Documentation: https://developers.openai.com/codex/config-reference */
export const codex: CodingTool = {
  name: "Codex",
  package: "@openai/codex",
  version: "0.169.0",
  command: "codex",
  upstreams: [codexUpstream, azureUpstream, claudeUpstream, geminiUpstream],
  tab: "codex",
  files: {
    ".codex/config.toml": `check_for_update_on_startup = false

[analytics]
enabled = false
`,
  },
  run: (prompt) => ["exec", "--skip-git-repo-check", prompt],
  // Codex reads files only through its shell tool.
  readFile: (file) => ({ name: "exec_command", input: { cmd: `cat '${file}'` } }),
};
