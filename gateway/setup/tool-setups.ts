import type { ToolSetup } from "./tool-setup.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { cline } from "./tools/cline.ts";
import { codex } from "./tools/codex.ts";
import { continueCli } from "./tools/continue.ts";
import { copilot } from "./tools/copilot.ts";
import { kiloCode } from "./tools/kilo-code.ts";
import { kimiCode } from "./tools/kimi-code.ts";
import { openCode } from "./tools/opencode.ts";
import { other } from "./tools/other.ts";
import { pi } from "./tools/pi.ts";
import { qwenCode } from "./tools/qwen-code.ts";

/** The tabs, in their order. */
export const toolSetups = {
  "claude-code": claudeCode,
  codex,
  opencode: openCode,
  cline,
  copilot,
  "qwen-code": qwenCode,
  pi,
  "kilo-code": kiloCode,
  "kimi-code": kimiCode,
  continue: continueCli,
  other,
} satisfies Record<string, ToolSetup>;

export type ToolId = keyof typeof toolSetups;

export const toolIds = Object.keys(toolSetups) as ToolId[];
