import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import type { CodingTool } from "./coding-tool.ts";
import { continueCli } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { kiloCode } from "./kilo-code.ts";
import { kimiCode } from "./kimi-code.ts";
import { openCode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwenCode } from "./qwen-code.ts";

/** All tools in the setup generator. */
export const codingTools: CodingTool[] = [
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
];
