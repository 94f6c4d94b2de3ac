import type { SetupModels } from "../../console/src/lib/setup/setup-input.ts";
import type { ToolId } from "../../console/src/lib/setup/tool-setups.ts";
import type { ToolUpstream } from "./tool-upstreams.ts";

/** A coding tool: how people install it, set it up for the gateway with the generated command, and run it for one prompt. */
export type CodingTool = {
  name: string;
  /** On npm. */
  package: string;
  version: string;
  command: string;
  /** The upstreams that it is tried with: one that speaks the tool's own wire form, and others. */
  upstreams: ToolUpstream[];
  /** Its tab in the setup generator. */
  tab: ToolId;
  /** What is in its files before it is set up, by path from the home folder: what keeps it from asking elsewhere. */
  files?: Record<string, string>;
  /** To the same end. */
  environment?: Record<string, string>;
  /** Whether it is set up by what a shell reads when it starts. */
  isSetUpByProfile?: boolean;
  /** What to say to it to have a prompt answered, with its tools allowed. */
  run(prompt: string): string[];
  /** How its model reads a file. */
  readFile(file: string): ToolCall;
};

/** What somebody knows who wants to use the gateway. */
export type GatewayAccess = {
  /** Without a path. */
  url: string;
  apiKey: string;
  models: SetupModels;
};

export type ToolCall = { name: string; input: object };
