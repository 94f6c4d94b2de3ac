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
  /** Missing if the documentation does not state a version. */
  version?: string;
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
  /** Missing if the documentation states no version. */
  version?: string;
  documentation: string;
  steps: string[];
  /** The values to enter, which may contain `keyPlaceholder`. */
  fields: { label: string; value: string }[];
  /** A file to merge manually, which may contain `keyPlaceholder`. */
  file?: { path: string; content: string };
};

type GuideOptions = { baseUrl: string; models: SetupModels };

/** The month in which the documentation of all apps was read. */
export const guideMonth = "November 2026";

/** Sets the members of the object at `path` one by one, so that other members survive. Null removes a member. */
export function setMembers(path: string[], members: Record<string, Json>): JsonOperation[] {
  return Object.entries(members).map(([name, value]) =>
    value === null ? { do: "remove", path: [...path, name] } : { do: "set", path: [...path, name], value },
  );
}

export function set<Value extends Json>(path: string[], value: Value) {
  return { do: "set" as const, path, value };
}

/** The text of a file in a format that cannot be merged. Its first line marks it as the setup's own. */
export function ownText(lines: string[]): string {
  const mark = "# Created by Model Gateway's setup. Remove this line to keep your own changes.";
  return [mark, ...lines, ""].join("\n");
}

/** In tokens, for tools that do not accept an unknown context window. */
export const contextWindowAssumed = 128_000;
