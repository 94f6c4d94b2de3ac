import { isObject, type ToolCall } from "../../wire/chat-completion.ts";

/** A `tool_use` block. Throws for a call that nobody could answer. */
export function readToolCall({ id, name, input }: Record<string, unknown>): ToolCall {
  if (typeof id !== "string" || typeof name !== "string") throw new Error("It is no call of a tool.");
  return {
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(isObject(input) ? input : {}) },
  };
}
