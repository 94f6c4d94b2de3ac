import { conversationSteps } from "./conversation-steps.ts";
import { endingSteps } from "./ending-steps.ts";
import type { Step } from "./step.ts";
import { thinkingSteps } from "./thinking-steps.ts";
import { toolSteps } from "./tool-steps.ts";

/**
 * What people do with a model, written once. Each step says what a client is told to do, what the model answers, what the
 * client gets, and what the model was asked. The tests beside this file play every step with every client against every
 * kind of provider, each behind an upstream that speaks its vendor's own API: all of them must come to the one result that
 * stands here.
 */
export const scenario: Step[] = [...conversationSteps, ...toolSteps, ...thinkingSteps, ...endingSteps];
