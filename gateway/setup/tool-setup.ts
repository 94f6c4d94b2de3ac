import type { GuideApp, GuideOptions } from "./tool-guide.ts";
import type { Dialect, OperatingSystem, SetupModels } from "./setup-input.ts";
import type { SetupPlan } from "./setup-plan.ts";

/** A tab of the setup generator: facts about a tool, and its setup. */
export type ToolSetup = {
  /** The tab's label. */
  name: string;
  /** The version that the setup was checked with. Null for no single tool. */
  checkedWith: CheckedVersion | null;
  /** The dialect between the tool and the gateway. */
  dialect: Dialect | null;
  /** The workloads with a setting of their own. The page shows only these. */
  workloads: ("light" | "daily" | "hard")[];
  plan(options: PlanOptions): ToolPlan;
  /** Steps to verify the tool: commands, and what to look for. */
  verify: string[];
  notes?(options: PlanOptions): string[];
  warnings?(options: PlanOptions): string[];
  /** Other places where the tool runs, and what to enter there. */
  elsewhere?(options: GuideOptions): GuideApp[];
};

/** A version that was run, or one whose documentation was read. */
export type CheckedVersion = {
  /** Null for documentation that names none. */
  version: string | null;
  month: string;
  /** The documentation that the setup follows, for a tool that was not run. */
  documentation?: string;
};

type PlanOptions = { baseUrl: string; models: SetupModels; operatingSystem: OperatingSystem };

/** The plan without the parts that `generateSetup` adds. */
type ToolPlan = Omit<SetupPlan, "tool" | "toolName" | "baseUrl" | "slugs">;
