import type { ChunkChoice, ChunkDelta, FinishReason } from "../../../gateway/wire/chat-completion.ts";
import { requestFrom } from "./read-events.ts";

export const request = requestFrom({
  model: "a/b",
  input: "x",
  stream: true,
  include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
  tools: [
    { type: "function", name: "f", parameters: {} },
    { type: "custom", name: "c" },
    { type: "shell" },
    { type: "namespace", name: "n", description: "", tools: [{ type: "function", name: "f" }] },
  ],
});

export const chunk = (delta: object, finish_reason: FinishReason | null = null): ChunkChoice => ({
  index: 0,
  delta: delta as ChunkDelta,
  finish_reason,
});

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
