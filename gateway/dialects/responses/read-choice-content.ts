import { imageUrlsIn, type ReasoningDetail, readReasoningDetails } from "../../wire/chat-completion.ts";
import { isObject, textOf } from "../../wire/json.ts";

type ChoiceContent = {
  thoughts: string;
  details: ReasoningDetail[];
  text: string;
  refusal: string;
  /** Data URLs. */
  images: string[];
  calls: ChoiceCall[];
};

export type ChoiceCall = { index: number; id: string | null; name: string | null; arguments: string };

/** Reads a message or delta that is not validated yet. Invalid values count as missing. */
export function readChoiceContent(choice: object): ChoiceContent {
  const { reasoning_content, reasoning_details, content, refusal, images, tool_calls } = choice as Record<
    string,
    unknown
  >;
  const calls: unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
  return {
    thoughts: textOf(reasoning_content),
    details: readReasoningDetails(reasoning_details),
    text: textOf(content),
    refusal: textOf(refusal),
    images: imageUrlsIn(images),
    calls: calls.flatMap(readCall),
  };
}

function readCall(call: unknown, position: number): ChoiceCall[] {
  if (!isObject(call) || !isObject(call["function"])) return [];
  const { index, id } = call;
  const fn = call["function"];
  return [
    {
      index: typeof index === "number" ? index : position,
      id: textOf(id) || null,
      name: textOf(fn["name"]) || null,
      arguments: textOf(fn["arguments"]),
    },
  ];
}
