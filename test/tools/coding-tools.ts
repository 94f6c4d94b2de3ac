import { aider } from "./aider.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import type { CodingTool } from "./coding-tool.ts";
import { continueCli } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { droid } from "./droid.ts";
import { grokBuild } from "./grok-build.ts";
import { hermesAgent } from "./hermes-agent.ts";
import { kiloCode } from "./kilo-code.ts";
import { kimiCode } from "./kimi-code.ts";
import { mistralVibe } from "./mistral-vibe.ts";
import { openClaw } from "./openclaw.ts";
import { openCode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwenCode } from "./qwen-code.ts";

/** The setup generator's tools that these tests install from npm or PyPI. */
export const allTools: CodingTool[] = [
  claudeCode,
  codex,
  openCode,
  cline,
  qwenCode,
  copilot,
  pi,
  kiloCode,
  kimiCode,
  continueCli,
  grokBuild,
  droid,
  openClaw,
  aider,
  mistralVibe,
  hermesAgent,
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
