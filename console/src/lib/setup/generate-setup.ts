import { emitPosix } from "./emit-posix.ts";
import { emitPowerShell } from "./emit-powershell.ts";
import type { EmittedSetup } from "./emitted-setup.ts";
import { modelWarnings } from "./model-warnings.ts";
import { parseSetupInput, type SetupInput, type SetupModel } from "./setup-input.ts";
import type { SetupPlan } from "./setup-plan.ts";
import { type ToolId, toolSetups } from "./tool-setups.ts";

/**
 * The command that sets a coding tool up for the gateway, and what a person wants to know before running it. It throws
 * `SetupInputError` for input that must not get into a command.
 */
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
  /** Where a choice of models, or the gateway's address, will not work well. */
  warnings: string[];
  /** How to see that the tool works, one step each. */
  verify: string[];
};

const keyNotes: Record<SetupInput["operatingSystem"], string> = {
  posix:
    "The key is in this command. bash on Linux leaves a line that starts with a blank out of its history; zsh, as on macOS, does so only after setopt HIST_IGNORE_SPACE. Let the command ask for the key to keep it out of any history.",
  windows:
    "The key is in this command, and PowerShell may keep it in its history. Let the command ask for the key to keep it out of there.",
};

/** The chosen ones first: some tools offer them in this order. */
function uniqueModels({ light, daily, hard, connected }: SetupInput["models"]): SetupModel[] {
  return [...new Map([daily, hard, light, ...connected].map((model) => [model.slug, model])).values()];
}
