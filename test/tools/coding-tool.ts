import type { SetupModels } from "../../gateway/setup/setup-input.ts";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import type { ToolUpstream } from "./tool-upstreams.ts";

/** A coding tool: its installation, its generated setup, and a run with one prompt. */
export type CodingTool = {
  name: string;
  /** Name on npm. */
  package: string;
  version: string;
  command: string;
  /** Upstreams for the tests: one with the tool's own wire form, and others. */
  upstreams: ToolUpstream[];
  /** Its tab in the setup generator. */
  tab: ToolId;
  /** Initial files by path in the home folder, which disable other network access. */
  files?: Record<string, string>;
  /** Variables that disable other network access. */
  environment?: Record<string, string>;
  /** Whether a shell profile contains the setup. */
  isSetUpByProfile?: boolean;
  /** Returns arguments that answer a prompt with tools permitted. */
  run(prompt: string): string[];
  /** Returns the model's call that reads a file. */
  readFile(file: string): ToolCall;
};

/** The user's information about the gateway. */
export type GatewayAccess = {
  /** Without a path. */
  url: string;
  apiKey: string;
  models: SetupModels;
};

export type ToolCall = { name: string; input: object };
