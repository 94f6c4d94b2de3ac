import type { SetupModel, SetupModels } from "./setup-input.ts";
import type { ToolSetup } from "./tool-setup.ts";

/** Where the chosen models will not work well with the tool, one sentence or two each. */
export function modelWarnings(setup: ToolSetup, models: SetupModels): string[] {
  const chosen = [
    ...new Map(setup.workloads.map((workload) => [models[workload].slug, models[workload]])).values(),
  ];
  return [
    ...chosen.filter(({ canCallTools }) => canCallTools === false).map(withoutTools),
    ...chosen
      .filter(({ contextWindow }) => (contextWindow ?? Infinity) < contextWindowLeast)
      .map(withLittleRoom),
    ...(setup.dialect === "messages" ? translatedClaudeCode(chosen.filter(isTranslatedClaudeCode)) : []),
    ...(setup.dialect === "responses" ? chosen.filter(isNativeOnly).map(nativeOnly) : []),
  ];
}

/** Below it the tool's own instructions and tools leave no room for files. */
const contextWindowLeast = 32_000;

function withoutTools({ slug }: SetupModel): string {
  return `${slug} cannot call tools: it can talk, but it cannot read or change files.`;
}

function withLittleRoom({ slug, contextWindow }: SetupModel): string {
  return `${slug} has room for ${contextWindow} tokens only. Coding tools need more for their own instructions and a few files.`;
}

function isTranslatedClaudeCode({ dialects }: SetupModel): boolean {
  return !dialects.includes("messages");
}

/** Said once: it is long, and mostly true of all that are chosen or of none. */
function translatedClaudeCode(models: SetupModel[]): string[] {
  if (models.length === 0) return [];
  const slugs = new Intl.ListFormat("en").format(models.map(({ slug }) => slug));
  return [
    `${slugs} ${models.length === 1 ? "is" : "are"} not served in Anthropic's form: the gateway translates. Claude Code is made for Claude, and other models may use its tools less well.`,
  ];
}

/** Codex knows these by their names, and asks them in a form that only OpenAI's own Responses API understands. */
function isNativeOnly({ slug, dialects }: SetupModel): boolean {
  const name = slug.slice(slug.lastIndexOf("/") + 1);
  return /^gpt-(5\.[6-9]|[6-9])/.test(name) && !dialects.includes("responses");
}

function nativeOnly({ slug }: SetupModel): string {
  return `Codex asks ${slug} in a form that only OpenAI's own Responses API understands, and this provider does not speak it. Choose the model from OpenAI itself, or another one.`;
}
