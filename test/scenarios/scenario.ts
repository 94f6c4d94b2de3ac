import { conversationSteps } from "./conversation-steps.ts";
import { endingSteps } from "./ending-steps.ts";
import type { Step } from "./step.ts";
import { thinkingSteps } from "./thinking-steps.ts";
import { toolSteps } from "./tool-steps.ts";

/** The steps that each client plays against each vendor. */
export const scenario: Step[] = [...conversationSteps, ...toolSteps, ...thinkingSteps, ...endingSteps];
