import type { ChatTranslation } from "../providers/provider.ts";
import type { ChunkChoice } from "../wire/chat-completion.ts";

/**
 * Sends only the first tool call of each choice, for requests with `parallel_tool_calls: false`. Some
 * upstreams lack this parameter, and clients that set it may not handle further calls.
 */
export function withOneCall(translation: ChatTranslation): ChatTranslation {
  return {
    ...translation,
    readAnswer(answer) {
      const { choices, ...rest } = translation.readAnswer(answer);
      return { ...rest, choices: choices.map(firstCallOnly) };
    },
    createStreamReader() {
      const reader = translation.createStreamReader();
      const firstCalls = new Map<number, number>();
      return {
        get usage() {
          return reader.usage;
        },
        get usageDetails() {
          return reader.usageDetails;
        },
        get state() {
          return reader.state;
        },
        read: (event) => reader.read(event).map((choice) => withoutLaterCalls(choice, firstCalls)),
      };
    },
  };
}

function firstCallOnly<Choice extends { message: { tool_calls?: unknown[] } }>(choice: Choice): Choice {
  const { tool_calls: calls } = choice.message;
  if (!calls || calls.length < 2) return choice;
  return { ...choice, message: { ...choice.message, tool_calls: calls.slice(0, 1) } };
}

/** @param firstCalls the index of the first call of each choice */
function withoutLaterCalls(choice: ChunkChoice, firstCalls: Map<number, number>): ChunkChoice {
  const { tool_calls: calls, ...delta } = choice.delta;
  if (!calls || calls.length === 0) return choice;
  const first = firstCalls.get(choice.index) ?? calls[0]?.index ?? 0;
  firstCalls.set(choice.index, first);
  const kept = calls.filter(({ index }) => index === first);
  return { ...choice, delta: { ...delta, ...(kept.length > 0 && { tool_calls: kept }) } };
}
