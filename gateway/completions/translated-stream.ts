import { readTokenUsage } from "../wire/token-usage.ts";
import type { StreamWriter } from "../dialects/dialect.ts";
import type { ChatStreamReader, ChatTranslation } from "../providers/provider.ts";
import { TokenMeter } from "../usage/counting/token-meter.ts";
import type { ChunkDelta } from "../wire/chat-completion.ts";
import type { EventDecoder } from "../wire/server-sent-events.ts";
import { errorWithoutSecrets } from "./read-upstream-error.ts";
import { cutOff, toAnswerError, tooLong } from "../wire/bad-answer.ts";
import type { StreamPiece, StreamReading } from "./stream-relay.ts";

type TranslatedStreamOptions = {
  translation: Pick<ChatTranslation, "streamContentType" | "createDecoder" | "createStreamReader">;
  writer: StreamWriter;
  eventBytesMax: number;
  /** The provider's key. Upstream errors may quote it. */
  secret: string | null;
};

/** Converts upstream events to deltas, and deltas to the client's events. */
export class TranslatedStream implements StreamReading {
  readonly contentType: string;
  readonly output = new TokenMeter();
  readonly #options: TranslatedStreamOptions;
  readonly #decoder: EventDecoder;
  readonly #reader: ChatStreamReader;
  #text = "";

  constructor(options: TranslatedStreamOptions) {
    const { translation, eventBytesMax } = options;
    this.#options = options;
    this.contentType = translation.streamContentType;
    this.#decoder = translation.createDecoder(eventBytesMax);
    this.#reader = translation.createStreamReader();
  }

  push(bytes: Buffer): StreamPiece {
    return this.#takePiece(() => this.#translate(bytes));
  }

  end(): StreamPiece {
    return this.#takePiece(() => (this.#reader.state === "unfinished" ? cutOff() : this.#finish()));
  }

  #translate(bytes: Buffer): StreamPiece["ending"] {
    const { writer, eventBytesMax } = this.#options;
    for (const event of this.#decoder.push(bytes)) {
      for (const choice of this.#reader.read(event)) {
        this.#count(choice.delta);
        this.#text += writer.write(choice, this.#reader.usage);
      }
      if (this.#reader.state === "ended") return this.#finish();
    }
    return this.#decoder.isTooLong ? tooLong("one event", eventBytesMax) : null;
  }

  #count({ content, refusal, reasoning_content: thought, tool_calls: calls }: ChunkDelta): void {
    for (const text of [content, refusal, thought]) if (text) this.output.add(text);
    for (const call of calls ?? []) this.output.add(call.function.arguments);
  }

  #finish(): "done" {
    this.#text += this.#options.writer.finish(this.#reader.usage);
    return "done";
  }

  /** Output that precedes an exception still goes to the client. */
  #takePiece(translate: () => StreamPiece["ending"]): StreamPiece {
    const ending = this.#tryTo(translate);
    const bytes = this.#text === "" ? noBytes : Buffer.from(this.#text);
    this.#text = "";
    return { bytes, usage: readTokenUsage(this.#reader.usage, this.#reader.usageDetails), ending };
  }

  #tryTo(translate: () => StreamPiece["ending"]): StreamPiece["ending"] {
    try {
      return translate();
    } catch (thrown) {
      return errorWithoutSecrets(toAnswerError(thrown), this.#options.secret);
    }
  }
}

const noBytes = Buffer.alloc(0);
