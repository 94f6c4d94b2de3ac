import type { SetupModel, SetupModels } from "./setup-input.ts";
import type { ToolSetup } from "./tool-setup.ts";

/** Warnings about selected models that do not suit the tool. */
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

/** A smaller window leaves no room for files beside the tool's own instructions. */
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

/** One warning for all models, because it is long. */
function translatedClaudeCode(models: SetupModel[]): string[] {
  if (models.length === 0) return [];
  const slugs = new Intl.ListFormat("en").format(models.map(({ slug }) => slug));
  return [
    `${slugs} ${models.length === 1 ? "uses" : "use"} a different API format, so requests are translated. Claude Code is made for Claude, and other models may use its tools less well.`,
  ];
}

/** Whether Codex sends requests to this model that only OpenAI's own Responses API supports. */
function isNativeOnly({ slug, dialects }: SetupModel): boolean {
  const name = slug.slice(slug.lastIndexOf("/") + 1);
  return /^gpt-(5\.[6-9]|[6-9])/.test(name) && !dialects.includes("responses");
}

function nativeOnly({ slug }: SetupModel): string {
  return `Codex sends ${slug} requests that only OpenAI's own Responses API supports. Choose OpenAI's own model, or another one.`;
}
