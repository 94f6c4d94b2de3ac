import type { CodingTool } from "./coding-tool.ts";
import {
  azureUpstream,
  chatUpstream,
  claudeUpstream,
  codexUpstream,
  geminiUpstream,
} from "./tool-upstreams.ts";

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

/** The setup generator's tools that these tests install from npm or PyPI. */
export const allTools: CodingTool[] = [
  claudeCode,
  codex,
  // Documentation: https://opencode.ai/docs/config and https://opencode.ai/docs/providers
  {
    name: "OpenCode",
    package: "opencode-ai",
    version: "1.18.33",
    command: "opencode",
    upstreams: [chatUpstream, claudeUpstream, geminiUpstream],
    tab: "opencode",
    isSlow: true,
    environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    run: (prompt) => ["run", prompt],
    readFile: (filePath) => ({ name: "read", input: { filePath } }),
  },
  // Documentation: https://docs.cline.bot/cline-cli/overview
  {
    name: "Cline",
    package: "cline",
    version: "3.0.65",
    command: "cline",
    upstreams: [chatUpstream, claudeUpstream],
    tab: "cline",
    isSlow: true,
    run: (prompt) => [prompt],
    readFile: (path) => ({ name: "read_files", input: { files: [{ path }] } }),
  },
  // Documentation: https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings
  {
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
  },
  // Documentation: https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/use-byok-models
  {
    name: "GitHub Copilot CLI",
    package: "@github/copilot",
    version: "1.0.102",
    command: "copilot",
    upstreams: [chatUpstream, claudeUpstream],
    tab: "copilot",
    environment: { COPILOT_OFFLINE: "true" },
    isSetUpByProfile: true,
    run: (prompt) => ["--allow-all-tools", "--no-color", "-p", prompt],
    readFile: (path) => ({ name: "view", input: { path } }),
  },
  // Documentation: https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/models.md
  {
    name: "Pi",
    package: "@earendil-works/pi-coding-agent",
    version: "0.87.1",
    command: "pi",
    upstreams: [chatUpstream, claudeUpstream],
    tab: "pi",
    environment: { PI_OFFLINE: "1" },
    run: (prompt) => ["-p", prompt],
    readFile: (path) => ({ name: "read", input: { path } }),
  },
  // Documentation: https://kilo.ai/docs/code-with-ai/platforms/cli
  {
    name: "Kilo Code",
    package: "@kilocode/cli",
    version: "7.7.7",
    command: "kilo",
    upstreams: [chatUpstream, claudeUpstream],
    tab: "kilo-code",
    isSlow: true,
    environment: {
      KILO_DISABLE_AUTOUPDATE: "1",
      KILO_DISABLE_MODELS_FETCH: "1",
      KILO_DISABLE_SESSION_INGEST: "1",
      KILO_TELEMETRY_LEVEL: "off",
    },
    run: (prompt) => ["run", prompt],
    readFile: (filePath) => ({ name: "read", input: { filePath } }),
  },
  // Documentation: https://moonshotai.github.io/kimi-code/
  {
    name: "Kimi Code",
    package: "@moonshot-ai/kimi-code",
    version: "2.1.0",
    command: "kimi",
    upstreams: [chatUpstream],
    tab: "kimi-code",
    isSlow: true,
    run: (prompt) => ["-p", prompt],
    readFile: (path) => ({ name: "Read", input: { path } }),
  },
  // Documentation: https://docs.continue.dev/cli/overview
  {
    name: "Continue",
    package: "@continuedev/cli",
    version: "1.5.47",
    command: "cn",
    upstreams: [chatUpstream],
    tab: "continue",
    run: (prompt) => ["-p", prompt],
    readFile: (filepath) => ({ name: "Read", input: { filepath } }),
  },
  // Documentation: https://docs.x.ai/build/overview
  {
    name: "Grok Build",
    package: "@xai-official/grok",
    version: "1.0.41",
    command: "grok",
    // Grok's title requests force a tool call. Claude models that always reason reject such requests.
    upstreams: [chatUpstream],
    tab: "grok-build",
    isSlow: true,
    environment: { GROK_DISABLE_AUTOUPDATER: "1" },
    run: (prompt) => ["--always-approve", "-p", prompt],
    readFile: (target_file) => ({ name: "read_file", input: { target_file } }),
  },
  // Documentation: https://docs.factory.ai/model-independence/byok
  {
    name: "Factory Droid",
    package: "droid",
    version: "0.215.0",
    command: "droid",
    upstreams: [chatUpstream, claudeUpstream],
    tab: "droid",
    isSlow: true,
    environment: { FACTORY_DROID_AUTO_UPDATE_ENABLED: "false" },
    run: (prompt) => ["exec", prompt],
    readFile: (file_path) => ({ name: "Read", input: { file_path } }),
  },
  // Documentation: https://docs.openclaw.ai/cli/agent
  {
    name: "OpenClaw",
    package: "openclaw",
    version: "2026.9.6",
    command: "openclaw",
    upstreams: [chatUpstream],
    tab: "openclaw",
    isSlow: true,
    run: (prompt) => ["agent", "--local", "--agent", "main", "--message", prompt],
    readFile: (path) => ({ name: "read", input: { path } }),
  },
  // Documentation: https://aider.chat/docs/scripting.html
  {
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
  },
  // Documentation: https://docs.mistral.ai/mistral-vibe/terminal
  {
    name: "Mistral Vibe",
    package: "mistral-vibe",
    registry: { name: "pypi", pythonAtLeast: [3, 12], pythonBelow: [3, 15] },
    version: "2.26.1",
    command: "vibe",
    upstreams: [chatUpstream, claudeUpstream],
    tab: "mistral-vibe",
    isSlow: true,
    environment: { VIBE_ENABLE_UPDATE_CHECKS: "false", VIBE_ENABLE_TELEMETRY: "false" },
    run: (prompt) => ["--auto-approve", "-p", prompt],
    readFile: (path) => ({ name: "read_file", input: { path } }),
  },
  // Documentation: https://hermes-agent.nousresearch.com/docs
  {
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
  },
];

/**
 * Returns all tools, or the fast ones, which cover every dialect and form of settings. The fast run tries a chat
 * completion tool only on its last upstream, because the tool sends every upstream the same requests.
 */
export function selectTools({ isFast }: { isFast: boolean }): CodingTool[] {
  if (!isFast) return allTools;
  return allTools
    .filter(({ isSlow }) => !isSlow)
    .map((tool) => (ownApis.includes(tool) ? tool : { ...tool, upstreams: tool.upstreams.slice(-1) }));
}

/** These tools use the messages or responses API on every upstream. */
const ownApis = [claudeCode, codex];
