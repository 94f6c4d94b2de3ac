import { imageUrlsIn, type ReasoningDetail, readReasoningDetails } from "../../wire/chat-completion.ts";
import { isObject, listOf, textOf } from "../../wire/json.ts";

/** Ignores invalid members of a message or delta, because OpenAI-compatible upstreams may send any value. */
export function readAssistantMessage(message: unknown): AssistantContent {
  const {
    content,
    refusal,
    reasoning_content: reasoning,
    reasoning_details: details,
    images,
    tool_calls: calls,
  } = isObject(message) ? message : {};
  return {
    text: textOf(content) + describeImages(images),
    refusal: textOf(refusal),
    reasoning: textOf(reasoning),
    details: readReasoningDetails(details, "unknown"),
    calls: listOf(calls).flatMap(readCall),
  };
}

export type AssistantContent = {
  text: string;
  refusal: string;
  reasoning: string;
  details: ReasoningDetail[];
  calls: CalledPiece[];
};

export type CalledPiece = {
  /** Null if the upstream sent no index. */
  index: number | null;
  /** The call's ID. Empty if missing, as in most later pieces of a call. */
  id: string;
  name: string;
  arguments: string;
};

/** Anthropic's API has no images in answers, and a data URL as text would fill the client's context. */
function describeImages(images: unknown): string {
  return "\n\n[The model returned an image, which the Messages API cannot carry.]".repeat(
    imageUrlsIn(images).length,
  );
}

function readCall(value: unknown): CalledPiece[] {
  const { index, id, function: fn } = isObject(value) ? value : {};
  if (!isObject(fn)) return [];
  const { name, arguments: args } = fn;
  return [
    {
      index: typeof index === "number" ? index : null,
      id: textOf(id),
      name: textOf(name),
      arguments: textOf(args),
    },
  ];
}
