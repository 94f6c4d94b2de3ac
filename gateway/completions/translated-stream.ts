import type { StreamWriter } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import type { ChatStreamReader, ChatTranslation } from "../providers/provider.ts";
import { TokenMeter } from "../usage/token-meter.ts";
import { type ChunkDelta, readTokenUsage } from "../wire/chat-completion.ts";
import type { EventDecoder } from "../wire/event-decoder.ts";
import { withoutSecrets } from "./read-upstream-error.ts";
import {
  badAnswer,
  cutOff,
  noBytes,
  type StreamPiece,
  type StreamReading,
  tooLong,
} from "./stream-reading.ts";

type TranslatedStreamOptions = {
  translation: Pick<ChatTranslation, "streamContentType" | "createDecoder" | "createStreamReader">;
  writer: StreamWriter;
  eventBytesMax: number;
  /** Our credential, which an upstream's error may quote. */
  secret: string | null;
};

/** A stream between an upstream and a client with different forms: its events become deltas, and these the client's events. */
export class TranslatedStream implements StreamReading {
  readonly contentType: string;
  readonly said = new TokenMeter();
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
    try {
      return this.#takePiece(this.#translate(bytes));
    } catch (error) {
      return this.#takePiece(this.#toEnding(error));
    }
  }

  end(): StreamPiece {
    return this.#takePiece(this.#reader.state === "unfinished" ? cutOff() : this.#finish());
  }

  #translate(bytes: Buffer): StreamPiece["ending"] {
    const { writer, eventBytesMax } = this.#options;
    for (const event of this.#decoder.push(bytes)) {
      for (const choice of this.#reader.read(event)) {
        this.#hear(choice.delta);
        this.#text += writer.write(choice, this.#reader.usage);
      }
      if (this.#reader.state === "ended") return this.#finish();
    }
    return this.#decoder.isTooLong ? tooLong("one event longer than", eventBytesMax) : null;
  }

  #hear({ content, refusal, reasoning_content: thought, tool_calls: calls }: ChunkDelta): void {
    for (const text of [content, refusal, thought]) if (text) this.said.add(text);
    for (const call of calls ?? []) this.said.add(call.function.arguments);
  }

  #finish(): "done" {
    this.#text += this.#options.writer.finish(this.#reader.usage);
    return "done";
  }

  #takePiece(ending: StreamPiece["ending"]): StreamPiece {
    const bytes = this.#text === "" ? noBytes : Buffer.from(this.#text);
    this.#text = "";
    return { bytes, usage: readTokenUsage(this.#reader.usage), ending };
  }

  #toEnding(error: unknown): GatewayError {
    if (!(error instanceof GatewayError)) return badAnswer("not in its provider's form");
    const { code, reason } = error;
    return new GatewayError(code, withoutSecrets(error.message, this.#options.secret), { reason });
  }
}
