import type { ClaudeEffort } from "../claude-budget.ts";
import type { Thinking } from "./messages-request.ts";

/**
 * Where the generations of Claude differ in what they take.
 * https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
 */
export type ClaudeTraits = {
  /**
   * What it calls the efforts. Null for a model that does not decide itself how much it thinks: it gets a budget of
   * tokens.
   */
  efforts: Record<ClaudeEffort, string> | null;
  /** What keeps it from thinking, or makes it think as little as it can. */
  calm: { thinking?: Thinking; effort?: string };
  /** When it takes another temperature than 1, and the like. */
  sampling: "always" | "not while thinking" | "never";
  /** Whether it refuses thoughts that come back after something before them has changed. */
  bindsThoughts: boolean;
};

export function findClaudeTraits(modelName: string): ClaudeTraits {
  const claude = readName(modelName);
  if (claude === null) return strangerTraits;
  const isSince = (major: number, minor: number) =>
    claude.major > major || (claude.major === major && claude.minor >= minor);
  return {
    efforts: isSince(4, 7) ? allEfforts : isSince(4, 6) ? effortsOf46 : null,
    calm: isSince(5, 0) ? calmOf5(claude) : {},
    sampling: isSince(4, 7) ? "never" : "not while thinking",
    bindsThoughts: isSince(5, 1),
  };
}

type Claude = { family: string; major: number; minor: number };

/** A Claude without a version is taken for a new one. Null for everyone else: others speak this API too. */
function readName(modelName: string): Claude | null {
  const name = modelName.toLowerCase();
  if (!name.includes("claude")) return null;
  // claude-opus-4-8, claude-sonnet-4-5-20250929, claude-opus-4-20250514
  const today = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(name);
  if (today) return { family: today[1] ?? "", major: Number(today[2]), minor: Number(today[3] ?? 0) };
  // claude-3-7-sonnet-20250219, claude-3-opus-20240229
  const once = /claude-(\d)(?:[-.](\d))?(?!\d)/.exec(name);
  if (once) return { family: "", major: Number(once[1]), minor: Number(once[2] ?? 0) };
  return { family: "", major: Infinity, minor: 0 };
}

/** From 5 on, Claude thinks unless it is told not to, and not each lets itself be told. */
function calmOf5({ family, major, minor }: Claude): ClaudeTraits["calm"] {
  const name = `${family} ${major}.${minor}`;
  if (name === "sonnet 5.5") return { thinking: { type: "between_tools" } };
  if (["opus 5.0", "sonnet 5.0", "haiku 5.5"].includes(name)) return { thinking: { type: "disabled" } };
  return { effort: "low" };
}

/** https://platform.claude.com/docs/en/build-with-claude/effort */
const allEfforts: Record<ClaudeEffort, string> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

/** Of the two that are next to `xhigh`, the one that does not cost more than was asked for. */
const effortsOf46: Record<ClaudeEffort, string> = { ...allEfforts, xhigh: "high" };

/** Those who imitate this API imitate its old form. */
const strangerTraits: ClaudeTraits = {
  efforts: null,
  calm: {},
  sampling: "always",
  bindsThoughts: false,
};
