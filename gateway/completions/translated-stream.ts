import { GatewayError } from "../errors.ts";
import type { ChatStreamReader, ChatTranslation } from "../providers/provider.ts";
import { type ChunkChoice, readTokenUsage } from "../wire/chat-completion.ts";
import type { EventDecoder, UpstreamEvent } from "../wire/event-decoder.ts";
import { withoutSecrets } from "./read-upstream-error.ts";
import { badAnswer, cutOff, noBytes, type StreamPiece, type StreamReading } from "./stream-reading.ts";

type TranslatedStreamOptions = {
  translation: ChatTranslation;
  id: string;
  createdSeconds: number;
  slug: string;
  includeUsage: boolean;
  eventBytesMax: number;
  /** Our credential, which an upstream's error may quote. */
  secret: string | null;
};

/** The stream of an upstream that has a form of its own: its events become chat completion chunks, one by one. */
export class TranslatedStream implements StreamReading {
  readonly contentType: string;
  readonly #options: TranslatedStreamOptions;
  readonly #decoder: EventDecoder;
  readonly #reader: ChatStreamReader;
  /** A chunk up to its choices. */
  readonly #head: string;
  /** A chunk after its only choice. OpenAI says `null` to those who asked for usage until it comes. */
  readonly #tail: string;
  /** The choices that have begun, which is said with their role. */
  readonly #begun = new Set<number>();

  constructor(options: TranslatedStreamOptions) {
    const { translation, id, createdSeconds, slug, includeUsage, eventBytesMax } = options;
    this.#options = options;
    this.contentType = translation.streamContentType;
    this.#decoder = translation.createDecoder(eventBytesMax);
    this.#reader = translation.createStreamReader();
    const envelope = { id, object: "chat.completion.chunk", created: createdSeconds, model: slug };
    this.#head = `data: ${JSON.stringify(envelope).slice(0, -1)},"choices":[`;
    this.#tail = `]${includeUsage ? ',"usage":null' : ""}}\n\n`;
  }

  push(bytes: Buffer): StreamPiece {
    let text = "";
    try {
      for (const event of this.#decoder.push(bytes)) {
        text += this.#chunksOf(event);
        if (this.#reader.state === "ended") return this.#finish(text);
      }
    } catch (error) {
      return this.#pieceOf(text, this.#toEnding(error));
    }
    const { eventBytesMax } = this.#options;
    const isTooLong = this.#decoder.isTooLong;
    return this.#pieceOf(text, isTooLong ? badAnswer(`one event longer than ${eventBytesMax} bytes`) : null);
  }

  end(): StreamPiece {
    return this.#reader.state === "unfinished" ? this.#pieceOf("", cutOff()) : this.#finish("");
  }

  #chunksOf(event: UpstreamEvent): string {
    let text = "";
    for (const choice of this.#reader.read(event)) {
      text += `${this.#head}${JSON.stringify(this.#withRole(choice))}${this.#tail}`;
    }
    return text;
  }

  #withRole(choice: ChunkChoice): ChunkChoice {
    const { index, delta, logprobs = null, finish_reason } = choice;
    if (this.#begun.has(index)) return { index, delta, logprobs, finish_reason };
    this.#begun.add(index);
    return { index, delta: { role: "assistant", ...delta }, logprobs, finish_reason };
  }

  #finish(text: string): StreamPiece {
    const { usage } = this.#reader;
    const asked = this.#options.includeUsage && usage !== null;
    return this.#pieceOf(
      asked ? `${text}${this.#head}],"usage":${JSON.stringify(usage)}}\n\n` : text,
      "done",
    );
  }

  #pieceOf(text: string, ending: StreamPiece["ending"]): StreamPiece {
    const bytes = text === "" ? noBytes : Buffer.from(text);
    return { bytes, usage: readTokenUsage(this.#reader.usage), ending };
  }

  #toEnding(error: unknown): GatewayError {
    if (!(error instanceof GatewayError)) return badAnswer("not in its provider's form");
    return new GatewayError(error.code, withoutSecrets(error.message, this.#options.secret));
  }
}
