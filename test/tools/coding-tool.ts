import type { SetupModels } from "../../gateway/setup/setup-input.ts";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import type { ToolUpstream } from "./tool-upstreams.ts";

export type CodingTool = {
  name: string;
  package: string;
  /** The default is npm. */
  registry?: PythonRegistry;
  version: string;
  command: string;
  /** The first upstream also has a test with a plain prompt. */
  upstreams: ToolUpstream[];
  tab: ToolId;
  /** The tool installs or starts slowly, so `npm run test:tools -- --fast` omits it. */
  isSlow?: boolean;
  /** Initial files in the home folder, by path. The files disable updates and telemetry. */
  files?: Record<string, string>;
  /** Variables that disable updates, telemetry or other network access. */
  environment?: Record<string, string>;
  isInRepository?: boolean;
  /** Whether the setup is in a shell profile, which must run before the tool. */
  isSetUpByProfile?: boolean;
  /** Returns the arguments that run one prompt without asking the user. */
  run(prompt: string): string[];
  /** Returns the model's call that reads a file. Null for a tool that itself sends the files named in the prompt. */
  readFile: ((file: string) => ToolCall) | null;
};

export type PythonRegistry = { name: "pypi"; pythonAtLeast: PythonVersion; pythonBelow: PythonVersion };

export type PythonVersion = [major: number, minor: number];

/** The values from which a tool's setup is generated. */
export type GatewayAccess = {
  /** The URL of the gateway, or of a proxy in front of it, without a path. */
  url: string;
  apiKey: string;
  models: SetupModels;
};

export type ToolCall = { name: string; input: object };
