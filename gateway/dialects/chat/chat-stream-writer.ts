import type { ChatUsage, ChunkChoice } from "../../wire/chat-completion.ts";
import type { AnswerEnvelope, StreamWriter } from "../dialect.ts";

export class ChatStreamWriter implements StreamWriter {
  readonly #includeUsage: boolean;
  readonly #head: string;
  /**
   * The end of a chunk, after its only choice. If the client requests usage, OpenAI sends `"usage": null`
   * until the usage arrives.
   */
  readonly #tail: string;
  /** The indexes of the choices whose role has been written. */
  readonly #begun = new Set<number>();

  constructor({ id, createdSeconds, slug }: AnswerEnvelope, includeUsage: boolean) {
    const identity = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: createdSeconds };
    this.#includeUsage = includeUsage;
    this.#head = `data: ${JSON.stringify({ ...identity, model: slug }).slice(0, -1)},"choices":[`;
    this.#tail = `]${includeUsage ? ',"usage":null' : ""}}\n\n`;
  }

  write(choice: ChunkChoice): string {
    return `${this.#head}${JSON.stringify(this.#withRole(choice))}${this.#tail}`;
  }

  finish(usage: Partial<ChatUsage> | null): string {
    const sendsUsage = this.#includeUsage && usage !== null;
    return `${sendsUsage ? `${this.#head}],"usage":${JSON.stringify(usage)}}\n\n` : ""}data: [DONE]\n\n`;
  }

  #withRole({ index, delta, logprobs = null, finish_reason }: ChunkChoice): ChunkChoice {
    if (this.#begun.has(index)) return { index, delta, logprobs, finish_reason };
    this.#begun.add(index);
    return { index, delta: { role: "assistant", ...delta }, logprobs, finish_reason };
  }
}
