import type { Answer, Asked, Turn } from "../helpers/native-upstreams/native-upstream.ts";
import { plainAnswer } from "../scenarios/step.ts";
import type { ToolCall } from "./coding-tool.ts";

/**
 * The model first sends the calls, if any, and then the text of `conclude`. Side requests, such as those for
 * titles, receive other responses.
 * @param reader a tool that only the coding tool's main requests contain
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
  conclude(results: string): string[];
};

/** Returns whether the turns contain the prompt, and every later response contains a call. */
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
