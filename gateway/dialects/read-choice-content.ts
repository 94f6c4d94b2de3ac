import { imageUrlsIn, type ReasoningDetail, readReasoningDetails } from "../wire/chat-completion.ts";
import { isObject, listOf, textOf } from "../wire/json.ts";

export type ChoiceContent = {
  thoughts: string;
  details: ReasoningDetail[];
  text: string;
  refusal: string;
  /** Data URLs. */
  images: string[];
  calls: ChoiceCall[];
};

/** A call, or a piece of one. The ID and the name are empty if missing, as in most later pieces. */
export type ChoiceCall = {
  /** Null if the upstream sent no index. */
  index: number | null;
  /** The position in the upstream's list. */
  position: number;
  id: string;
  name: string;
  arguments: string;
};

/**
 * Reads a message or delta. Invalid values count as missing, because OpenAI-compatible upstreams may send any value.
 * @param unknownFormat see `readReasoningDetails`
 */
export function readChoiceContent(choice: unknown, unknownFormat?: string): ChoiceContent {
  const given = isObject(choice) ? choice : {};
  return {
    thoughts: textOf(given["reasoning_content"]),
    details: readReasoningDetails(given["reasoning_details"], unknownFormat),
    text: textOf(given["content"]),
    refusal: textOf(given["refusal"]),
    images: imageUrlsIn(given["images"]),
    calls: listOf(given["tool_calls"]).flatMap(readCall),
  };
}

function readCall(call: unknown, position: number): ChoiceCall[] {
  const { index, id, function: called } = isObject(call) ? call : {};
  if (!isObject(called)) return [];
  const { name, arguments: args } = called;
  const ownIndex = typeof index === "number" ? index : null;
  return [{ index: ownIndex, position, id: textOf(id), name: textOf(name), arguments: textOf(args) }];
}
