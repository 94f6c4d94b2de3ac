import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { readReasoningDetails } from "../../wire/reasoning-details.ts";

/** What a message says, or a delta of one. Texts are empty where it says nothing. */
export type Said = {
  thoughts: string;
  details: ReasoningDetail[];
  text: string;
  refusal: string;
  calls: SaidCall[];
};

export type SaidCall = { index: number; id: string | null; name: string | null; arguments: string };

/** Nobody has looked at it yet where the upstream speaks chat completions itself: what is no text counts as none. */
export function readSaid(said: object): Said {
  const { reasoning_content, reasoning_details, content, refusal, tool_calls } = said as Record<
    string,
    unknown
  >;
  const calls: unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
  return {
    thoughts: toText(reasoning_content),
    details: readReasoningDetails(reasoning_details),
    text: toText(content),
    refusal: toText(refusal),
    calls: calls.flatMap(readCall),
  };
}

function readCall(call: unknown, place: number): SaidCall[] {
  if (!isObject(call) || !isObject(call["function"])) return [];
  const { index, id } = call;
  const fn = call["function"];
  return [
    {
      index: typeof index === "number" ? index : place,
      id: toText(id) || null,
      name: toText(fn["name"]) || null,
      arguments: toText(fn["arguments"]),
    },
  ];
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
