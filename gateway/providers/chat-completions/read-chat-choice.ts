import { upstreamReported } from "../upstream-reported.ts";
import { isObject } from "../../wire/chat-completion.ts";

/**
 * A choice of an upstream that may only imitate OpenAI's form, in that form as far as translations read it: what it says is
 * text, its thoughts are `reasoning_content`, the arguments of its calls are JSON in a text. Throws `upstreamReported(…)`
 * where the upstream says that it could not finish, and anything for what is no choice.
 */
export function readChatChoice(choice: unknown, name: "message" | "delta"): object {
  if (!isObject(choice)) throw new Error("This is no choice.");
  const { finish_reason: finishReason, error } = choice;
  if (finishReason === "error" || finishReason === "insufficient_system_resource") {
    throw upstreamReported(isObject(error) ? error["message"] : error);
  }
  // What Azure tells about a choice besides, such as what its filter has found, comes without a delta.
  const said = choice[name] ?? (name === "delta" ? {} : null);
  if (!isObject(said)) throw new Error(`This choice has no ${name}.`);
  return {
    ...choice,
    // Mistral's name for the end of what the model can take.
    ...(finishReason === "model_length" && { finish_reason: "length" }),
    [name]: readSaid(said),
  };
}

function readSaid({ content, refusal, reasoning, reasoning_content: own, ...said }: Record<string, unknown>) {
  const { tool_calls: calls, ...rest } = said;
  // OpenRouter, Groq and newer vLLM call the thoughts `reasoning`; Mistral's are a part of what is said.
  const thoughts = toText(own) || toText(reasoning) || toText(content, "thinking");
  return {
    ...rest,
    ...(content !== undefined && { content: toText(content) }),
    ...(refusal !== undefined && { refusal: toText(refusal) }),
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(Array.isArray(calls) && { tool_calls: calls.flatMap(readCall) }),
  };
}

/**
 * A text, or the parts of one: Mistral answers in parts where it thinks.
 * @param type of the parts, and the name of the member with what they say
 */
function toText(value: unknown, type: "text" | "thinking" = "text"): string {
  if (typeof value === "string") return type === "text" ? value : "";
  if (!Array.isArray(value)) return "";
  return value
    .map((part: unknown) => (isObject(part) && part["type"] === type ? toText(part[type]) : ""))
    .join("");
}

/** The form has the arguments in every piece of a call; some leave them out, Ollama's own form has them as an object. */
function readCall(call: unknown): object[] {
  if (!isObject(call) || !isObject(call["function"])) return [];
  const { arguments: args, ...fn } = call["function"];
  return [{ ...call, function: { ...fn, arguments: isObject(args) ? JSON.stringify(args) : toText(args) } }];
}
