/**
 * Formats a model catalog with the members that Codex 0.169 requires. The catalog replaces Codex's built-in
 * list. https://github.com/openai/codex (codex-rs/protocol)
 */
export function formatModelCatalog(models: readonly CatalogedModel[]): object {
  return { models: models.slice(0, modelsMax).map(formatModelInfo) };
}

export type CatalogedModel = {
  slug: string;
  contextWindow: number | null;
  canReason?: boolean | undefined;
};

function formatModelInfo({ slug, contextWindow, canReason }: CatalogedModel, index: number): object {
  const window = contextWindow ?? contextWindowDefault;
  return {
    slug,
    display_name: slug,
    description: "A model served by this gateway.",
    base_instructions: instructions,
    supported_reasoning_levels: canReason === false ? [] : reasoningLevels,
    default_reasoning_level: canReason === false ? null : "medium",
    supports_reasoning_summaries: canReason !== false,
    default_reasoning_summary: "none",
    support_verbosity: false,
    shell_type: "shell_command",
    // Null makes Codex send its own tools as plain functions, which every provider accepts.
    tool_mode: null,
    use_responses_lite: false,
    supports_parallel_tool_calls: true,
    experimental_supported_tools: [],
    input_modalities: ["text", "image"],
    truncation_policy: { mode: "tokens", limit: 10_000 },
    context_window: window,
    max_context_window: window,
    visibility: "list",
    supported_in_api: true,
    priority: index,
  };
}

const reasoningLevels = [
  { effort: "low", description: "Fast answers with little reasoning" },
  { effort: "medium", description: "Balanced speed and reasoning" },
  { effort: "high", description: "More reasoning for hard problems" },
];

/** Codex rejects a model without instructions. */
const instructions = [
  "You are a coding agent in a terminal, working in the user's project folder.",
  "Read the relevant files before you change them, and follow the conventions of the project.",
  "Make the smallest change that solves the task, and keep unrelated code as it is.",
  "Run the project's tests or build after a change where possible, and fix what fails.",
  "Never delete files, discard changes or run destructive commands unless the user asks for it.",
  "Finish with a short summary of what you changed, and of anything that is still open.",
].join("\n");

const contextWindowDefault = 128_000;
/** Codex reads at most 1 MiB of the catalog. */
const modelsMax = 500;
