import type { SetupModels } from "../../gateway/setup/setup-input.ts";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import type { ToolUpstream } from "./tool-upstreams.ts";

export type CodingTool = {
  name: string;
  package: string;
  /** By default npm. */
  registry?: PythonRegistry;
  version: string;
  command: string;
  /** Upstreams for the tests. The first has the API that the setup selects for the tool. */
  upstreams: ToolUpstream[];
  tab: ToolId;
  /** Whether only the full run includes the tool, because it installs or runs slowly. */
  isSlow?: boolean;
  /** Initial files by path in the home folder. They disable updates and telemetry. */
  files?: Record<string, string>;
  /** Variables that disable updates, telemetry or other network access. */
  environment?: Record<string, string>;
  isInRepository?: boolean;
  /** Whether a shell profile contains the setup. */
  isSetUpByProfile?: boolean;
  /** Returns the arguments that run one prompt without asking the user. */
  run(prompt: string): string[];
  /** Returns the model's call that reads a file. Null for a tool that itself sends the files named in the prompt. */
  readFile: ((file: string) => ToolCall) | null;
};

/** The Python versions that the tool's package supports, from `pythonAtLeast` to below `pythonBelow`. */
export type PythonRegistry = { name: "pypi"; pythonAtLeast: PythonVersion; pythonBelow: PythonVersion };

export type PythonVersion = [major: number, minor: number];

/** The values from which a tool's setup is generated. */
export type GatewayAccess = {
  /** The URL without a path. */
  url: string;
  apiKey: string;
  models: SetupModels;
};

export type ToolCall = { name: string; input: object };
