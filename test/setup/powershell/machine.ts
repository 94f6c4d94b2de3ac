import type { Tree } from "./parse-powershell.ts";
import type { Scope } from "./scope.ts";
import type { System } from "./stand-in-system.ts";

/** What expressions need of whatever runs the statements around them. */
export type Machine = {
  /** What is outside of the text; the editors need none. */
  system: System | undefined;
  runCommand(command: Tree, scope: Scope): unknown;
  /** What the statements give, one by one. */
  collect(block: Tree, scope: Scope): unknown[];
};
