/** The parameters that a Claude model accepts, on Anthropic's API and on Bedrock. */
export type ClaudeTraits = {
  /** The model's way to reason: with a token budget, with adaptive thinking and an effort, or either. */
  thinking: "never" | "by budget" | "by budget or effort" | "by effort" | "as requested";
  /** Claude 4.6 lacks the effort `xhigh`. */
  takesXhigh: boolean;
  /** The parameters that disable or minimize thinking. Empty for models that reason only on request. */
  thinkingOff: { thinking?: { type: string }; effort?: string };
  /** The accepted parameters of `temperature`, `top_p` and `top_k`. `one` means no `top_p` beside a temperature. */
  sampling: "all" | "one" | "none";
  canForceTools: boolean;
  /** Whether the model rejects thinking blocks if the conversation before them has changed. */
  bindsThoughts: boolean;
  /** Whether the model accepts `thinking.display` on Bedrock. */
  takesDisplay: boolean;
  takesSchemaOnBedrock: boolean;
  takesTtlOnBedrock: boolean;
};

const claude3: ClaudeTraits = {
  thinking: "never",
  takesXhigh: false,
  thinkingOff: {},
  sampling: "all",
  canForceTools: true,
  bindsThoughts: false,
  takesDisplay: false,
  takesSchemaOnBedrock: false,
  takesTtlOnBedrock: false,
};
const claude37: ClaudeTraits = { ...claude3, thinking: "by budget" };
const claude41: ClaudeTraits = { ...claude37, sampling: "one" };
const claude45: ClaudeTraits = { ...claude41, takesSchemaOnBedrock: true, takesTtlOnBedrock: true };
const claude46: ClaudeTraits = { ...claude45, thinking: "by budget or effort" };
const claude47: ClaudeTraits = {
  ...claude46,
  thinking: "by effort",
  takesXhigh: true,
  sampling: "none",
  takesDisplay: true,
  // AWS lists only Claude 4.5 and 4.6. For others: "output_config.format: Extra inputs are not permitted".
  takesSchemaOnBedrock: false,
};
/** From version 5, Claude reasons by default. */
const claude5: ClaudeTraits = { ...claude47, thinkingOff: { thinking: { type: "disabled" } } };
const haiku55: ClaudeTraits = { ...claude5, bindsThoughts: true };
/** Fable and Mythos always reason. */
const always: ClaudeTraits = { ...claude47, thinkingOff: { effort: "low" } };
const always51: ClaudeTraits = { ...always, canForceTools: false, bindsThoughts: true };
const sonnet55: ClaudeTraits = { ...always51, thinkingOff: { thinking: { type: "between_tools" } } };

/**
 * The first version of the families with the traits. Later versions inherit them, up to the family's next line.
 * https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting,
 * https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5#forced-tool-use-is-not-supported,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
 */
const models: readonly (readonly [families: string[], version: number, traits: ClaudeTraits])[] = [
  [["instant"], 1, claude3],
  [["opus", "sonnet", "haiku"], 3, claude3],
  [["sonnet"], 3.7, claude37],
  [["opus"], 4, claude37],
  [["opus"], 4.1, claude41],
  [["opus", "sonnet", "haiku"], 4.5, claude45],
  [["opus", "sonnet", "haiku"], 4.6, claude46],
  [["opus", "sonnet", "haiku"], 4.7, claude47],
  [["opus", "sonnet", "haiku"], 5, claude5],
  [["fable", "mythos"], 5, always],
  [["fable", "mythos"], 5.1, always51],
  [["opus"], 5.5, always51],
  [["sonnet"], 5.5, sonnet55],
  [["haiku"], 5.5, haiku55],
];

/** Compatible upstreams may implement only the oldest features. */
const unknownModelTraits: ClaudeTraits = { ...claude37, thinking: "as requested" };

/** A name of Claude without a known family counts as the newest model. */
export function findClaudeTraits(modelName: string): ClaudeTraits {
  const name = modelName.toLowerCase();
  if (!name.includes("claude")) return unknownModelTraits;
  const { family, version } = readName(name);
  const ofFamily = models.filter(([families]) => families.includes(family));
  const traits = ofFamily.findLast(([, since]) => since <= version) ?? ofFamily[0];
  if (traits) return traits[2];
  return version < 4 ? (version < 3.7 ? claude3 : claude37) : always51;
}

/** A name without a version counts as new. */
function readName(name: string): { family: string; version: number } {
  // claude-opus-4-8, claude-sonnet-4-5-20250929, claude-opus-4-20250514
  const today = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(name);
  if (today) return { family: today[1] ?? "", version: toVersion(today[2], today[3]) };
  // claude-3-7-sonnet-20250219, claude-3-opus-20240229, claude-v2:1
  const once = /claude-v?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)(?:-([a-z]+))?/.exec(name);
  if (once) return { family: once[3] ?? "", version: toVersion(once[1], once[2]) };
  if (name.includes("claude-mythos-preview")) return { family: "mythos", version: 5 };
  // claude-sonnet-latest
  return { family: /claude-([a-z]+)/.exec(name)?.[1] ?? "", version: Infinity };
}

/** No minor version has two digits yet. */
function toVersion(major: string | undefined, minor = "0"): number {
  return Number(major) + Number(minor) / (minor.length > 1 ? 100 : 10);
}
