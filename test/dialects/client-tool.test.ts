import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { findClientTool } from "../../gateway/v1/endpoint.ts";

for (const [tool, headers] of [
  ["claude-code", { "user-agent": "claude-cli/2.1.329 (external, cli)", "x-app": "cli" }],
  ["claude-code", { "user-agent": "claude-code/2.1.329" }],
  ["codex", { "user-agent": "codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)" }],
  ["codex", { "user-agent": "codex-tui/0.169.0 (Debian 12.0.0; x86_64)" }],
  ["codex", { "user-agent": "codex_cli_rs/0.144.0 (Mac OS; arm64)" }],
  ["opencode", { "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.46 runtime/bun/1.3.14" }],
  ["kilo-code", { "user-agent": "Kilo-Code/7.7.7 ai-sdk/provider-utils/4.0.27 runtime/bun/1.3.14" }],
  ["kilo-code", { "user-agent": "opencode/7.8.3 (darwin 25.0.0; arm64)", "x-title": "Kilo Code" }],
  ["qwen-code", { "user-agent": "QwenCode/0.24.4 (linux; x64)" }],
  ["pi", { "user-agent": "pi (linux 6.18.44; x64)" }],
  ["kimi-code", { "user-agent": "kimi-code-cli/2.1.0" }],
  ["gemini-cli", { "user-agent": "GeminiCLI-tui/0.61.0/google/gemini-2.5-pro (linux; x64; terminal)" }],
  ["continue", { "user-agent": "ls/JS 5.23.2" }],
  [
    "cline",
    { "user-agent": "ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30 runtime/bun/1.3.13" },
  ],
  ["cline", { "user-agent": "OpenAI/JS 5.0.0", "x-title": "Cline" }],
  ["copilot", { "user-agent": "OpenAI/JS 5.20.1", "x-initiator": "user" }],
  ["copilot", { "user-agent": "Anthropic/JS 0.94.0", "x-initiator": "agent" }],
  ["crush", { "user-agent": "Charm-Crush/v0.97.1 (https://charm.land/crush)" }],
  ["zed", { "user-agent": "Zed/0.210.0 (macos; aarch64)" }],
  ["grok-build", { "user-agent": "grok-shell/1.0.41 (linux; x86_64)" }],
  ["droid", { "user-agent": "factory-cli/0.215.0" }],
  ["aider", { "user-agent": "aider" }],
  ["hermes-agent", { "user-agent": "hermes-agent" }],
  ["mistral-vibe", { "user-agent": "mistral-vibe" }],
  ["openclaw", { "user-agent": "openclaw" }],
  ["goose", { "user-agent": "goose" }],
  ["vscode-copilot", { "user-agent": "GitHubCopilotChat/0.44.1" }],
  ["cherry-studio", { "user-agent": "ai-sdk/openai-compatible/2.0.1", "x-title": "Cherry Studio" }],
  ["open-webui", { "user-agent": "Open WebUI" }],
  ["librechat", { "user-agent": "LibreChat" }],
  ["junie", { "user-agent": "junie" }],
  [null, { "user-agent": "OpenAI/JS 5.20.1" }],
  [null, { "user-agent": "ai-sdk/openai-compatible/3.0.37 runtime/node.js/24" }],
  [null, { "user-agent": "not-claude-cli/1.0" }],
  [null, { "user-agent": "pi-hole/1.0" }],
  [null, { "user-agent": `claude-cli/${"1".repeat(2_000)}` }],
  [null, { "x-title": ["Kilo Code"] }],
  [null, {}],
] as const) {
  test(`${tool ?? "no tool"}: ${JSON.stringify(headers).slice(0, 100)}`, (t) => {
    t.is(findClientTool(headers as Record<string, string>), tool);
  });
}

const folder = path.resolve(import.meta.dirname, "../../../shared/fixtures/coding-tools");
const files = existsSync(folder)
  ? globSync("*.json", { cwd: folder }).filter((file) => !file.startsWith("_"))
  : [];

test("tools are recognized by their recorded headers", (t) => {
  if (files.length === 0) t.log("skipped: ../shared/fixtures/coding-tools is not here");
  for (const file of files) {
    const { headers } = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as {
      headers: Record<string, string>;
    };
    // Neither Claude Code's startup probe nor claude-code-router (ccr) sends a header that identifies the tool.
    if (file.startsWith("claude-code-head-probe") || file.startsWith("ccr-")) continue;
    const tool = findClientTool(headers);
    t.true(tool !== null && file.startsWith(tool.replace(/^(kilo|gemini)-.*/, "$1")), `${file}: ${tool}`);
  }
  t.pass();
});
