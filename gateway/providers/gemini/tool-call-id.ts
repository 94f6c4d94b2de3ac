import { createHash } from "node:crypto";
import type { ChatUsage } from "../../wire/chat-completion.ts";

/**
 * An id for a call that came without one, as those of older models do. It is made of the answer, the call's place in it and
 * what it says, so the same call in another turn has another id. It has 29 characters, which every upstream takes.
 * @param position the candidate's index, then the call's among its calls
 */
export function toolCallId(
  answer: AnswerIdentity,
  position: [number, number],
  call: { name: string; arguments: string },
): string {
  const turn = answer.responseId ?? answer.usage?.prompt_tokens ?? null;
  const source = JSON.stringify([turn, position, call.name, call.arguments]);
  return `call_${createHash("sha256").update(source).digest("hex").slice(0, 24)}`;
}

/** What tells an answer from all others in its conversation: its id, or else the count of the prompt, which grows. */
export type AnswerIdentity = { responseId: string | null; usage: ChatUsage | null };
