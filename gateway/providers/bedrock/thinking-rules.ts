import type { UpstreamModel } from "../provider.ts";
import type { ConverseMessage } from "./converse-request.ts";
import type { ModelFamily } from "./model-family.ts";

/** What comes of how much a model shall think. */
export type ThinkingRules = {
  /** For `additionalModelRequestFields`. */
  fields: Record<string, unknown>;
  /** The most tokens that the answer may have, where thinking cannot do without a limit. */
  maxTokens?: number | undefined;
  /** Whether Claude will think, which goes with fewer parameters. */
  claudeThinks: boolean;
};

/** What decides on it, besides what the client asked. */
export type Situation = {
  family: ModelFamily;
  model: UpstreamModel;
  messages: ConverseMessage[];
  isToolForced: boolean;
  /** As the client asked. */
  maxTokens: number | undefined;
};

/** OpenAI's names of how much that is. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof efforts)[number];
