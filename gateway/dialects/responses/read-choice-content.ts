import { imageUrlsIn, type ReasoningDetail, readReasoningDetails } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";

export type ChoiceContent = {
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
    thoughts: toText(reasoning_content),
    details: readReasoningDetails(reasoning_details),
    text: toText(content),
    refusal: toText(refusal),
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
      id: toText(id) || null,
      name: toText(fn["name"]) || null,
      arguments: toText(fn["arguments"]),
    },
  ];
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
