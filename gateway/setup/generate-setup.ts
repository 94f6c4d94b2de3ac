import { emitPosix } from "./emit-posix.ts";
import { emitPowerShell } from "./emit-powershell.ts";
import type { EmittedSetup } from "./emitted-setup.ts";
import { parseSetupInput, type SetupInput, type SetupModel, type SetupModels } from "./setup-input.ts";
import type { SetupPlan } from "./setup-plan.ts";
import { type ToolId, toolSetups } from "./tool-setups.ts";
import type { ToolSetup } from "./tool-setup.ts";

/** Throws `SetupInputError` for an invalid model, key or URL. */
export function generateSetup(input: SetupInput<ToolId>): GeneratedSetup {
  const { tool, operatingSystem, baseUrl, key, models } = parseSetupInput(input);
  const setup = toolSetups[tool];
  const options = { baseUrl, models: { ...models, connected: uniqueModels(models) }, operatingSystem };
  const plan: SetupPlan = {
    ...setup.plan(options),
    tool,
    toolName: setup.name,
    baseUrl,
    slugs: [...new Set(setup.workloads.map((workload) => models[workload].slug))],
  };
  const emit = operatingSystem === "windows" ? emitPowerShell : emitPosix;
  return {
    ...emit(plan, key),
    notes: [...(key === null ? [] : [keyNotes[operatingSystem]]), ...(setup.notes?.(options) ?? [])],
    warnings: [...modelWarnings(setup, models), ...(setup.warnings?.(options) ?? [])],
    verify: setup.verify,
  };
}

export type GeneratedSetup = EmittedSetup & {
  notes: string[];
  warnings: string[];
  verify: string[];
};

const keyNotes: Record<SetupInput["operatingSystem"], string> = {
  posix:
    "This command contains the key. Its leading space keeps it out of the shell history in bash on Linux, and in zsh with setopt HIST_IGNORE_SPACE. Leave the key empty to enter it in the terminal instead.",
  windows:
    "This command contains the key, and PowerShell may keep it in its history. Leave the key empty to enter it in the terminal instead.",
};

/** Lists selected models first, because some tools keep this order. */
function uniqueModels({ light, daily, hard, connected }: SetupInput["models"]): SetupModel[] {
  return [...new Map([daily, hard, light, ...connected].map((model) => [model.slug, model])).values()];
}

function modelWarnings(setup: ToolSetup, models: SetupModels): string[] {
  const chosen = [
    ...new Map(setup.workloads.map((workload) => [models[workload].slug, models[workload]])).values(),
  ];
  return [
    ...chosen.filter(({ canCallTools }) => canCallTools === false).map(withoutTools),
    ...chosen
      .filter(({ contextWindow }) => (contextWindow ?? Infinity) < contextWindowLeast)
      .map(withLittleRoom),
    ...(setup.dialect === "messages" ? translatedClaudeCode(chosen) : []),
    ...(setup.dialect === "responses" ? chosen.filter(isNativeOnly).map(nativeOnly) : []),
  ];
}

/** In tokens. A smaller window has too little room for a coding tool's instructions and the user's files. */
const contextWindowLeast = 32_000;

function withoutTools({ slug }: SetupModel): string {
  return `${slug} cannot call tools: chat only, no file edits.`;
}

function withLittleRoom({ slug, contextWindow }: SetupModel): string {
  return `${slug} has a context window of only ${contextWindow} tokens. Coding tools need more for their instructions and files.`;
}

/** Returns one warning for all models, because its text is long. */
function translatedClaudeCode(chosen: SetupModel[]): string[] {
  const models = chosen.filter(({ dialects }) => !dialects.includes("messages"));
  if (models.length === 0) return [];
  const slugs = new Intl.ListFormat("en").format(models.map(({ slug }) => slug));
  return [
    `${slugs} ${models.length === 1 ? "uses" : "use"} a different API format, so requests are translated. Claude Code is made for Claude, and other models may use its tools less well.`,
  ];
}

function isNativeOnly({ slug, dialects }: SetupModel): boolean {
  const name = slug.slice(slug.lastIndexOf("/") + 1);
  return /^gpt-(5\.[6-9]|[6-9])/.test(name) && !dialects.includes("responses");
}

function nativeOnly({ slug }: SetupModel): string {
  return `With ${slug}, Codex uses features that only OpenAI's own Responses API supports. Choose this model from OpenAI itself, or a different model.`;
}
