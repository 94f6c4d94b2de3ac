import { emitPosix } from "./emit-posix.ts";
import { emitPowerShell } from "./emit-powershell.ts";
import type { EmittedSetup } from "./emitted-setup.ts";
import { modelWarnings } from "./model-warnings.ts";
import { parseSetupInput, type SetupInput, type SetupModel } from "./setup-input.ts";
import type { SetupPlan } from "./setup-plan.ts";
import { type ToolId, toolSetups } from "./tool-setups.ts";

/**
 * Generates the command that sets up a coding tool, with warnings and steps to verify it. Throws
 * `SetupInputError` for input that must not be in a command.
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
  /** Problems with the selected models or the gateway's URL. */
  warnings: string[];
  /** Steps to verify the setup. */
  verify: string[];
};

const keyNotes: Record<SetupInput["operatingSystem"], string> = {
  posix:
    "This command contains the key. bash on Linux does not store it, because the line starts with a space. zsh needs setopt HIST_IGNORE_SPACE. Leave the key empty to enter it in the terminal instead.",
  windows:
    "This command contains the key, and PowerShell may keep it in its history. Leave the key empty to enter it in the terminal instead.",
};

/** Lists selected models first, because some tools keep this order. */
function uniqueModels({ light, daily, hard, connected }: SetupInput["models"]): SetupModel[] {
  return [...new Map([daily, hard, light, ...connected].map((model) => [model.slug, model])).values()];
}
