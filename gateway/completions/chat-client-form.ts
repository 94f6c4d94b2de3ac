import { ChatStreamWriter } from "../dialects/chat/chat-stream-writer.ts";
import type { AnswerEnvelope } from "../dialects/dialect.ts";
import type { ClientForm } from "./client-form.ts";
import { nativeAnswer } from "./native-answer.ts";
import { NativeStream } from "./native-stream.ts";

/** For clients that speak chat completions, which most upstreams do too. */
export function chatClientForm(
  envelope: AnswerEnvelope,
  { includeUsage, eventBytesMax }: { includeUsage: boolean; eventBytesMax: number },
): ClientForm {
  const { id, createdSeconds, slug } = envelope;
  return {
    passChat: {
      answer: nativeAnswer(slug, "choices"),
      stream: (secret) => new NativeStream({ slug, includeUsage, eventBytesMax, secret }),
    },
    formatAnswer: ({ choices, usage }) => ({
      id: `chatcmpl-${id}`,
      object: "chat.completion",
      created: createdSeconds,
      model: slug,
      choices,
      ...(usage !== null && { usage }),
    }),
    createStreamWriter: () => new ChatStreamWriter(envelope, includeUsage),
  };
}
