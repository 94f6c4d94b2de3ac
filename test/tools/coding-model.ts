import type { Answer, Asked, Turn } from "../helpers/native-upstreams/native-upstream.ts";
import { plainAnswer } from "../scenarios/step.ts";
import type { ToolCall } from "./coding-tool.ts";

/**
 * What the upstream's model says to a coding tool that was given the prompt: first the calls, if there are any, and then
 * what `conclude` makes of their results. What the tool asks on the side, such as a title, gets an answer that does not matter.
 * @param reader the tool by which the coding tool's main requests are known
 */
export function codingModel({ prompt, reader, calls, conclude }: ModelScript): (asked: Asked) => Answer {
  return ({ turns, tools, schema }) => {
    if (schema !== null) return { ...plainAnswer, text: ['{"title":', '"Aside"}'] };
    const isOffered = tools.some(({ name }) => name === reader);
    if (!isOffered || !isOpen(turns, prompt)) return { ...plainAnswer, text: ["An ", "aside."] };
    const results = turns.flatMap(({ parts }) =>
      parts.flatMap((part) => ("result" in part ? [part.result] : [])),
    );
    if (results.length < calls.length) {
      return {
        ...plainAnswer,
        thoughts: ["A file, ", "then."],
        text: ["Let me ", "look."],
        calls,
        finish: "tool_calls",
      };
    }
    return { ...plainAnswer, thoughts: ["Easy."], text: conclude(results.join("\n")) };
  };
}

export type ModelScript = {
  prompt: string;
  reader: string;
  calls: ToolCall[];
  /** The pieces of the last answer. */
  conclude(results: string): string[];
};

/** Whether the prompt has been given, and has not been answered but with calls. */
function isOpen(turns: Turn[], prompt: string): boolean {
  const at = turns.findIndex(
    ({ role, parts }) =>
      role === "user" && parts.some((part) => "text" in part && part.text.includes(prompt)),
  );
  return (
    at !== -1 &&
    turns.slice(at).every(({ role, parts }) => role === "user" || parts.some((part) => "call" in part))
  );
}
