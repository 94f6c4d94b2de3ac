import type { ToolUpstream } from "./tool-upstreams.ts";

/** A coding tool: how people install it, point it at the gateway, and run it for one prompt. */
export type CodingTool = {
  name: string;
  /** On npm. */
  package: string;
  version: string;
  command: string;
  /** The upstreams that it is tried with: one that speaks the tool's own wire form, and others. */
  upstreams: ToolUpstream[];
  /** What the setup generator writes, by path from the home folder. */
  files?(access: GatewayAccess): Record<string, string>;
  environment?(access: GatewayAccess): Record<string, string>;
  /** A command of the tool itself that sets it up. */
  setUp?(access: GatewayAccess): string[];
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
  /** A slug. */
  model: string;
};

export type ToolCall = { name: string; input: object };
