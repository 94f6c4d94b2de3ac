import type { ChatStreamReader, ChatTranslation } from "../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../gateway/wire/chat-completion.ts";

export function readStream(
  translation: ChatTranslation,
  bytes: Buffer,
  pieceBytes = bytes.length,
): { choices: ChunkChoice[]; usage: Partial<ChatUsage> | null; state: ChatStreamReader["state"] } {
  const decoder = translation.createDecoder(1024 * 1024);
  const reader = translation.createStreamReader();
  const choices: ChunkChoice[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    for (const event of decoder.push(bytes.subarray(start, start + pieceBytes))) {
      choices.push(...reader.read(event));
    }
  }
  return { choices, usage: reader.usage, state: reader.state };
}
