import { chatApps } from "./guides/chat-apps.ts";
import { claudeDesktop } from "./guides/claude-desktop.ts";
import { vscodeCopilot } from "./guides/vscode-copilot.ts";
import type { ToolGuide } from "./tool-guide.ts";

export const toolGuides = {
  "claude-desktop": claudeDesktop,
  "vscode-copilot": vscodeCopilot,
  "chat-apps": chatApps,
} satisfies Record<string, ToolGuide>;

export type GuideId = keyof typeof toolGuides;

export function isGuide(id: string): id is GuideId {
  return id in toolGuides;
}
