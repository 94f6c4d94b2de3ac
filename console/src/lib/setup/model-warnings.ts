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
  return `${slug} cannot call tools: chat only, no file edits.`;
}

function withLittleRoom({ slug, contextWindow }: SetupModel): string {
  return `${slug} has a context window of only ${contextWindow} tokens. Coding tools need more for their instructions and files.`;
}

function isTranslatedClaudeCode({ dialects }: SetupModel): boolean {
  return !dialects.includes("messages");
}

/** Said once: it is long, and mostly true of all that are chosen or of none. */
function translatedClaudeCode(models: SetupModel[]): string[] {
  if (models.length === 0) return [];
  const slugs = new Intl.ListFormat("en").format(models.map(({ slug }) => slug));
  return [
    `${slugs} ${models.length === 1 ? "uses" : "use"} a different API format, so requests are translated. Claude Code is made for Claude, and other models may use its tools less well.`,
  ];
}

/** Codex knows these by their names, and asks them in a form that only OpenAI's own Responses API understands. */
function isNativeOnly({ slug, dialects }: SetupModel): boolean {
  const name = slug.slice(slug.lastIndexOf("/") + 1);
  return /^gpt-(5\.[6-9]|[6-9])/.test(name) && !dialects.includes("responses");
}

function nativeOnly({ slug }: SetupModel): string {
  return `Codex sends ${slug} requests that only OpenAI's own Responses API supports. Choose OpenAI's own model, or another one.`;
}
