import { conversationSteps } from "./conversation-steps.ts";
import { endingSteps } from "./ending-steps.ts";
import type { Step } from "./step.ts";
import { thinkingSteps } from "./thinking-steps.ts";
import { toolSteps } from "./tool-steps.ts";

/**
 * Common uses of a model. Tests play every step with every client and kind of provider, and expect the same
 * result.
 */
export const scenario: Step[] = [...conversationSteps, ...toolSteps, ...thinkingSteps, ...endingSteps];
