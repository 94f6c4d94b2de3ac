import type { Dialect, OperatingSystem, SetupModels } from "./setup-input.ts";
import type { SetupPlan } from "./setup-plan.ts";

/** A tab of the setup generator: what is known of a tool, and how it is set up. */
export type ToolSetup = {
  /** As on the tab. */
  name: string;
  /** The version that the setup was checked with, and when; null for what is no single tool. */
  checkedWith: { version: string; month: string } | null;
  /** The form that the tool speaks with the gateway. */
  dialect: Dialect | null;
  /** The workloads that it has a setting for; the page offers no other. */
  workloads: ("light" | "daily" | "hard")[];
  plan(options: PlanOptions): ToolPlan;
  /** How to see that the tool works: commands, and what to look for, one step each. */
  verify: string[];
  notes?(options: PlanOptions): string[];
  warnings?(options: PlanOptions): string[];
};

type PlanOptions = { baseUrl: string; models: SetupModels; operatingSystem: OperatingSystem };

/** The plan but for what `generateSetup` knows by itself. */
type ToolPlan = Omit<SetupPlan, "tool" | "toolName" | "baseUrl" | "slugs">;
