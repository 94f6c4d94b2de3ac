import test from "ava";
import { type ClaudeTraits, findClaudeTraits } from "../../../gateway/providers/anthropic/claude-traits.ts";

/** The table of https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting */
const table: Row[] = [
  ["claude-3-7-sonnet-20250219", null, {}, "not while thinking", false],
  ["claude-opus-4-20250514", null, {}, "not while thinking", false],
  ["claude-opus-4-1@20250805", null, {}, "not while thinking", false],
  ["claude-haiku-4-5-20251001", null, {}, "not while thinking", false],
  ["anthropic/claude-opus-4.5", null, {}, "not while thinking", false],
  ["claude-sonnet-4-6", "high", {}, "not while thinking", false],
  ["claude-opus-4-7", "xhigh", {}, "never", false],
  ["claude-opus-4-8", "xhigh", {}, "never", false],
  ["claude-sonnet-5", "xhigh", { thinking: { type: "disabled" } }, "never", false],
  ["claude-opus-5", "xhigh", { thinking: { type: "disabled" } }, "never", false],
  ["claude-fable-5", "xhigh", { effort: "low" }, "never", false],
  ["claude-fable-5-1", "xhigh", { effort: "low" }, "never", true],
  ["claude-opus-5-5", "xhigh", { effort: "low" }, "never", true],
  ["claude-sonnet-5-5", "xhigh", { thinking: { type: "between_tools" } }, "never", true],
  ["claude-haiku-5-5-20261007", "xhigh", { thinking: { type: "disabled" } }, "never", true],
  ["claude-mythos-preview", "xhigh", { effort: "low" }, "never", true],
  ["Claude-Opus-6-10", "xhigh", { effort: "low" }, "never", true],
  ["MiniMax-M2", null, {}, "always", false],
  ["constructor", null, {}, "always", false],
];

type Row = [
  name: string,
  xhigh: string | null,
  calm: ClaudeTraits["calm"],
  sampling: ClaudeTraits["sampling"],
  bindsThoughts: boolean,
];

for (const [name, xhigh, calm, sampling, bindsThoughts] of table) {
  test(`${name} has its known traits`, (t) => {
    const traits = findClaudeTraits(name);
    t.is(traits.efforts?.xhigh ?? null, xhigh);
    t.deepEqual(traits.calm, calm);
    t.is(traits.sampling, sampling);
    t.is(traits.bindsThoughts, bindsThoughts);
  });
}
