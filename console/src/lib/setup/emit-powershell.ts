import type { EmittedSetup } from "./emitted-setup.ts";
import type { SetupPlan } from "./setup-plan.ts";

/**
 * The plan as a command for PowerShell 5.1 and 7.
 * @param key a validated key value, or null if the command shall ask for it
 */
export function emitPowerShell(_plan: SetupPlan, _key: string | null): EmittedSetup {
  throw new Error("There is no command for Windows yet.");
}
