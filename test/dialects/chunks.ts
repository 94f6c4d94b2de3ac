import type { ChunkChoice, ChunkDelta, FinishReason } from "../../gateway/wire/chat-completion.ts";

export const chunk = (delta: object, finish_reason: FinishReason | null = null): ChunkChoice => ({
  index: 0,
  delta: delta as ChunkDelta,
  finish_reason,
});

/** A piece of a tool call. `begin` is in its first piece. */
export const piece = (index: number, args: string, begin?: { id: string; name: string }) =>
  chunk({
    tool_calls: [
      {
        index,
        ...(begin && { id: begin.id, type: "function" }),
        function: { ...(begin && { name: begin.name }), arguments: args },
      },
    ],
  });
