import type { SetupModels, Workload } from "./setup-input.ts";

/** A tool whose settings the user enters, because no script can. */
export type ToolGuide = {
  name: string;
  dialect: "chat" | "messages";
  workloads: Workload[];
  apps(options: GuideOptions): GuideApp[];
  notes?(options: GuideOptions): string[];
};

/** One program, or one place of a tool. */
export type GuideApp = {
  name: string;
  /** The version of the documentation. Null if it does not state one. */
  version: string | null;
  documentation: string;
  steps: string[];
  /** The values to enter. A value equal to `keyPlaceholder` becomes the key. */
  fields: { label: string; value: string }[];
  /** A file to merge manually, which may contain `keyPlaceholder`. */
  file: { path: string; content: string } | null;
};

export type GuideOptions = { baseUrl: string; models: SetupModels };

/** The month in which the documentation of all apps was read. */
export const guideMonth = "November 2026";
