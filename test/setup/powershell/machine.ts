import type { Tree } from "./parse-powershell.ts";
import type { Scope } from "./scope.ts";
import type { System } from "./stand-in-system.ts";

/** The parts of the interpreter in run-powershell.ts that expressions need. */
export type Machine = {
  /** Undefined for the editors, which use no files, cmdlets or environment variables. */
  system: System | undefined;
  runCommand(command: Tree, scope: Scope): unknown;
  collect(block: Tree, scope: Scope): unknown[];
};
