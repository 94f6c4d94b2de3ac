import type { SetupModels, Workload } from "./setup-input.ts";

/** A tool whose settings a person enters, because no script can. */
export type ToolGuide = {
  name: string;
  dialect: "chat" | "messages";
  workloads: Workload[];
  apps(options: GuideOptions): GuideApp[];
  notes?(options: GuideOptions): string[];
};

/** One program, or one place where a tool runs. */
export type GuideApp = {
  name: string;
  /** The version of the documentation. Null if it names none. */
  version: string | null;
  documentation: string;
  steps: string[];
  /** What to enter. A value equal to `keyPlaceholder` is the key. */
  fields: { label: string; value: string }[];
  /** A file to merge manually. It may contain `keyPlaceholder`. */
  file: { path: string; content: string } | null;
};

export type GuideOptions = { baseUrl: string; models: SetupModels };

/** When the documentation of all apps was read. */
export const guideMonth = "November 2026";
