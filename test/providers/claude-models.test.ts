import test from "ava";
import { type ClaudeTraits, findClaudeTraits } from "../../gateway/providers/claude-models.ts";

const disabled = { thinking: { type: "disabled" } };
const low = { effort: "low" };

/** https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting */
const table: Row[] = [
  ["anthropic.claude-v2:1", "never", {}, "all", true, false],
  ["claude-3-opus-20240229", "never", {}, "all", true, false],
  ["claude-3-5-haiku-20241022", "never", {}, "all", true, false],
  ["claude-3-7-sonnet-20250219", "by budget", {}, "all", true, false],
  ["claude-opus-4-20250514", "by budget", {}, "all", true, false],
  ["claude-opus-4-1@20250805", "by budget", {}, "one", true, false],
  ["us.anthropic.claude-sonnet-4-20250514-v1:0", "by budget", {}, "all", true, false],
  ["claude-haiku-4-5-20251001", "by budget", {}, "one", true, false],
  ["anthropic/claude-opus-4.5", "by budget", {}, "one", true, false],
  ["claude-sonnet-4-6", "by budget or effort", {}, "one", true, false],
  ["claude-opus-4-7", "by effort", {}, "none", true, false],
  ["claude-opus-4-8", "by effort", {}, "none", true, false],
  ["claude-sonnet-5", "by effort", disabled, "none", true, false],
  ["claude-opus-5", "by effort", disabled, "none", true, false],
  ["claude-fable-5", "by effort", low, "none", true, false],
  ["claude-mythos-preview", "by effort", low, "none", true, false],
  ["claude-fable-5-1", "by effort", low, "none", false, true],
  ["claude-mythos-5-1", "by effort", low, "none", false, true],
  ["claude-opus-5-5", "by effort", low, "none", false, true],
  [
    "eu.anthropic.claude-sonnet-5-5",
    "by effort",
    { thinking: { type: "between_tools" } },
    "none",
    false,
    true,
  ],
  ["claude-haiku-5-5-20261007", "by effort", disabled, "none", true, true],
  // Unknown models inherit from the newest of their family, or of all.
  ["Claude-Opus-6-10", "by effort", low, "none", false, true],
  ["claude-haiku-7", "by effort", disabled, "none", true, true],
  ["claude-sonnet-latest", "by effort", { thinking: { type: "between_tools" } }, "none", false, true],
  ["claude-saga-9", "by effort", low, "none", false, true],
  ["MiniMax-M2", "as requested", {}, "all", true, false],
  ["constructor", "as requested", {}, "all", true, false],
];

type Row = [
  name: string,
  thinking: ClaudeTraits["thinking"],
  thinkingOff: ClaudeTraits["thinkingOff"],
  sampling: ClaudeTraits["sampling"],
  canForceTools: boolean,
  bindsThoughts: boolean,
];

for (const [name, thinking, thinkingOff, sampling, canForceTools, bindsThoughts] of table) {
  test(`${name} has its known traits`, (t) => {
    t.like(findClaudeTraits(name), { thinking, thinkingOff, sampling, canForceTools, bindsThoughts });
    t.deepEqual(findClaudeTraits(name).thinkingOff, thinkingOff);
  });
}
