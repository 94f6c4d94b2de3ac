import type { GuideApp, GuideOptions } from "./tool-guide.ts";
import type { Dialect, OperatingSystem, SetupModels } from "./setup-input.ts";
import type { SetupPlan } from "./setup-plan.ts";

/** A tab of the setup generator: facts about a tool, and its setup. */
export type ToolSetup = {
  /** The tab's label. */
  name: string;
  /** The version that the setup was tested with. Null for a tab without a single tool. */
  checkedWith: CheckedVersion | null;
  /** The dialect between the tool and the gateway. */
  dialect: Dialect | null;
  /** The workloads that have their own setting. The page shows only these. */
  workloads: ("light" | "daily" | "hard")[];
  plan(options: PlanOptions): ToolPlan;
  /** Steps to verify the tool: commands, and the expected result. */
  verify: string[];
  notes?(options: PlanOptions): string[];
  warnings?(options: PlanOptions): string[];
  /** Other places where the tool runs, and the values to enter there. */
  elsewhere?(options: GuideOptions): GuideApp[];
};

/** A tested version, or one whose documentation was read. */
export type CheckedVersion = {
  /** Null if the documentation does not state a version. */
  version: string | null;
  month: string;
  /** The documentation of the setup, for a tool that was not tested. */
  documentation?: string;
};

type PlanOptions = { baseUrl: string; models: SetupModels; operatingSystem: OperatingSystem };

/** The plan without the parts that `generateSetup` adds. */
type ToolPlan = Omit<SetupPlan, "tool" | "toolName" | "baseUrl" | "slugs">;
