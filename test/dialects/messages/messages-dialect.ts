import { messages } from "../../../gateway/dialects/messages/messages.ts";
import type { AnswerEnvelope, DialectRequest } from "../../../gateway/dialects/dialect.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { anySize } from "../../helpers/body-limits.ts";

export const envelope: AnswerEnvelope = {
  id: "req_01kahs6zxm8qv2c9d4r7tn5wbe",
  createdSeconds: 1_795_000_000,
  nowSeconds: () => 1_795_000_001,
  estimateInputTokens: () => 7,
  previousResponseId: null,
  keep: null,
  slug: "openai/gpt-5-mini",
};

/** Adds the required members that the body lacks. */
export function requestFrom(body: object): DialectRequest {
  const whole = {
    model: envelope.slug,
    max_tokens: 1024,
    messages: [{ role: "user", content: "Hi" }],
    ...body,
  };
  return messages.readRequest(Buffer.from(JSON.stringify(whole)), anySize);
}

export function toChat(body: object): Record<string, unknown> {
  return viaJson(messages.toChatRequest(requestFrom(body))) as Record<string, unknown>;
}

export function toChatMessages(...conversation: object[]): unknown {
  return toChat({ messages: conversation })["messages"];
}

export function writeStream(choices: ChunkChoice[], usage: ChatUsage | null, body: object = {}): string {
  const writer = messages.createStreamWriter(envelope, requestFrom(body));
  return choices.map((choice) => writer.write(choice, null)).join("") + writer.finish(usage);
}

export function says(delta: object, finishReason: ChunkChoice["finish_reason"] = null): ChunkChoice {
  return { index: 0, delta, finish_reason: finishReason };
}

export type StreamedEvent = Record<string, unknown> & { type: string };

/** Throws if an event's name differs from the type in its data. */
export function readEvents(text: string): StreamedEvent[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, name, data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      const parsed = JSON.parse(data) as StreamedEvent;
      if (parsed.type !== name) throw new Error(`The event ${name} says that it is ${parsed.type}.`);
      return parsed;
    });
}

export function viaJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
