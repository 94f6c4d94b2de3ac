import type { Dialect, OperatingSystem, SetupModels, Workload } from "./setup-input.ts";
import type { SetupPlan, Json, JsonOperation } from "./setup-plan.ts";

export type ToolSetup = {
  name: string;
  /** Null for `other`, which is not a single tool. */
  checkedWith: CheckedVersion | null;
  dialect: Dialect | null;
  /** The workloads for which the tool has a model setting. */
  workloads: ("light" | "daily" | "hard")[];
  plan(options: PlanOptions): ToolPlan;
  verify: string[];
  notes?(options: PlanOptions): string[];
  warnings?(options: PlanOptions): string[];
  /** Other places where the tool runs, and the values to enter there. */
  elsewhere?(options: GuideOptions): GuideApp[];
};

export type CheckedVersion = {
  /** Null if the documentation does not state a version. */
  version: string | null;
  month: string;
  /** The source of the setup, for a tool that was not tested. */
  documentation?: string;
};

type PlanOptions = { baseUrl: string; models: SetupModels; operatingSystem: OperatingSystem };

type ToolPlan = Omit<SetupPlan, "tool" | "toolName" | "baseUrl" | "slugs">;

/** Settings that the user must enter, because no script can. */
export type ToolGuide = {
  name: string;
  /** Further names by which the console's search finds the guide. */
  searchTerms?: string[];
  dialect: "chat" | "messages";
  workloads: Workload[];
  apps(options: GuideOptions): GuideApp[];
  notes?(options: GuideOptions): string[];
};

/** A program, or a place where a tool runs. */
export type GuideApp = {
  name: string;
  /** The documented version. Null if the documentation states no version. */
  version: string | null;
  documentation: string;
  steps: string[];
  /** The values to enter, which may contain `keyPlaceholder`. */
  fields: { label: string; value: string }[];
  /** A file to merge manually, which may contain `keyPlaceholder`. */
  file: { path: string; content: string } | null;
};

export type GuideOptions = { baseUrl: string; models: SetupModels };

/** The month in which the documentation of all apps was read. */
export const guideMonth = "November 2026";

/** Sets the members of the object at `path` one by one, so that other members survive. Null removes a member. */
export function setMembers(path: string[], members: Record<string, Json>): JsonOperation[] {
  return Object.entries(members).map(([name, value]) =>
    value === null ? { do: "remove", path: [...path, name] } : { do: "set", path: [...path, name], value },
  );
}
