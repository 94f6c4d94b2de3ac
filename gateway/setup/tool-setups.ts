import type { ToolSetup, ToolGuide } from "./tool-setup.ts";
import { aider } from "./tools/aider.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { cline } from "./tools/cline.ts";
import { codex } from "./tools/codex.ts";
import { continueCli } from "./tools/continue.ts";
import { copilot } from "./tools/copilot.ts";
import { crush } from "./tools/crush.ts";
import { droid } from "./tools/droid.ts";
import { goose } from "./tools/goose.ts";
import { grokBuild } from "./tools/grok-build.ts";
import { hermesAgent } from "./tools/hermes-agent.ts";
import { junie } from "./tools/junie.ts";
import { kiloCode } from "./tools/kilo-code.ts";
import { kimiCode } from "./tools/kimi-code.ts";
import { mistralVibe } from "./tools/mistral-vibe.ts";
import { openClaw } from "./tools/openclaw.ts";
import { openCode } from "./tools/opencode.ts";
import { other } from "./tools/other.ts";
import { pi } from "./tools/pi.ts";
import { qwenCode } from "./tools/qwen-code.ts";
import { zed } from "./tools/zed.ts";
import { chatApps } from "./guides/chat-apps.ts";
import { claudeDesktop } from "./guides/claude-desktop.ts";
import { vscodeCopilot } from "./guides/vscode-copilot.ts";

export const toolSetups = {
  "claude-code": claudeCode,
  codex,
  opencode: openCode,
  cline,
  copilot,
  "qwen-code": qwenCode,
  pi,
  openclaw: openClaw,
  aider,
  continue: continueCli,
  crush,
  droid,
  goose,
  "grok-build": grokBuild,
  "hermes-agent": hermesAgent,
  junie,
  "kilo-code": kiloCode,
  "kimi-code": kimiCode,
  "mistral-vibe": mistralVibe,
  zed,
  other,
} satisfies Record<string, ToolSetup>;

export type ToolId = keyof typeof toolSetups;

export const toolIds = Object.keys(toolSetups) as ToolId[];

export function isToolId(text: string): text is ToolId {
  return Object.hasOwn(toolSetups, text);
}

export const toolGuides = {
  "claude-desktop": claudeDesktop,
  "vscode-copilot": vscodeCopilot,
  "chat-apps": chatApps,
} satisfies Record<string, ToolGuide>;

export type GuideId = keyof typeof toolGuides;

export function isGuide(id: string): id is GuideId {
  return id in toolGuides;
}
