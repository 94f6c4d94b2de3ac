import type { ClaudeEffort } from "../claude-budget.ts";
import type { Thinking } from "./messages-request.ts";

/**
 * Differences between the generations of Claude.
 * https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
 */
export type ClaudeTraits = {
  /** The model's names for the efforts. Null for models with a token budget instead of adaptive thinking. */
  efforts: Record<ClaudeEffort, string> | null;
  /** The parameters that disable or minimize thinking. */
  calm: { thinking?: Thinking; effort?: string };
  /** The condition under which the model accepts `top_p`, `top_k` and a temperature other than 1. */
  sampling: "always" | "not while thinking" | "never";
  /** Whether the model rejects thinking blocks if the conversation before them has changed. */
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

/** A name without a version counts as new. Null for another vendor's model behind a compatible API. */
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

/** From version 5, Claude reasons by default. Some models cannot disable reasoning. */
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

/** Claude 4.6 lacks `xhigh`. The replacement is lower, because a higher effort would cost more. */
const effortsOf46: Record<ClaudeEffort, string> = { ...allEfforts, xhigh: "high" };

/** Compatible upstreams may implement only the oldest features. */
const strangerTraits: ClaudeTraits = {
  efforts: null,
  calm: {},
  sampling: "always",
  bindsThoughts: false,
};
