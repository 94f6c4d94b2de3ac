import { GatewayError } from "../errors.ts";
import { readTokenUsage } from "../wire/token-usage.ts";
import type { StreamWriter } from "../dialects/dialect.ts";
import type { ChatStreamReader, ChatTranslation } from "../providers/provider.ts";
import { TokenMeter } from "../usage/counting/token-meter.ts";
import type { ChunkDelta } from "../wire/chat-completion.ts";
import type { EventDecoder, UpstreamEvent } from "../wire/server-sent-events.ts";
import { withEstimates } from "./answer-relay.ts";
import { errorWithoutSecrets } from "./read-upstream-error.ts";
import { cutOff, toAnswerError, tooLong, withoutChoices } from "../wire/bad-answer.ts";
import type { StreamPiece, StreamReading } from "./stream-relay.ts";

type TranslatedStreamOptions = {
  translation: Pick<ChatTranslation, "streamContentType" | "createDecoder" | "createStreamReader">;
  writer: StreamWriter;
  estimateInputTokens: () => number;
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
  #hasChoice = false;
  /** Decoded events, of which those before `#next` are translated. */
  #events: UpstreamEvent[] = [];
  #next = 0;
  /** Characters of events since the last turn of the event loop. */
  #charactersInTurn = 0;

  constructor(options: TranslatedStreamOptions) {
    const { translation, eventBytesMax } = options;
    this.#options = options;
    this.contentType = translation.streamContentType;
    this.#decoder = translation.createDecoder(eventBytesMax);
    this.#reader = translation.createStreamReader();
  }

  push(bytes: Buffer): StreamPiece {
    return this.#takePiece(() => {
      this.#events = this.#decoder.push(bytes);
      this.#next = 0;
      return this.#translate();
    });
  }

  proceed(): StreamPiece {
    this.#charactersInTurn = 0;
    return this.#takePiece(() => this.#translate());
  }

  end(): StreamPiece {
    return this.#takePiece(() => {
      const ending = this.#flush();
      if (ending !== null) return ending;
      return this.#reader.state === "unfinished" ? cutOff() : this.#finish();
    });
  }

  /** Reads a last line without its line breaks. An incomplete event is not malformed, but cut off. */
  #flush(): StreamPiece["ending"] {
    this.#events = this.#decoder.flush?.() ?? [];
    this.#next = 0;
    this.#charactersInTurn = 0;
    try {
      return this.#translate();
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.withoutAnswer) throw thrown;
      return cutOff();
    }
  }

  #translate(): StreamPiece["ending"] {
    const { writer, eventBytesMax } = this.#options;
    while (this.#next < this.#events.length && this.#charactersInTurn < charactersInTurnMax) {
      const event = this.#events[this.#next++];
      if (event === undefined) break;
      this.#charactersInTurn += event.data.length + eventCharacters;
      for (const choice of this.#reader.read(event)) {
        this.#hasChoice = true;
        this.#count(choice.delta);
        this.#text += writer.write(choice, this.#reader.usage);
      }
      if (this.#reader.state === "ended") return this.#finish();
    }
    if (this.#hasMore) return null;
    this.#events = [];
    this.#next = 0;
    return this.#decoder.isTooLong ? tooLong("one event", eventBytesMax) : null;
  }

  get #hasMore(): boolean {
    return this.#next < this.#events.length;
  }

  #count({ content, refusal, reasoning_content: thought, tool_calls: calls }: ChunkDelta): void {
    for (const text of [content, refusal, thought]) if (text) this.output.add(text);
    for (const call of calls ?? []) this.output.add(call.function.arguments);
  }

  #finish(): StreamPiece["ending"] {
    if (!this.#hasChoice) return withoutChoices();
    const { writer, estimateInputTokens: inputTokens } = this.#options;
    const outputTokens = () => this.output.tokens;
    this.#text += writer.finish(withEstimates(this.#reader.usage, { inputTokens, outputTokens }));
    return "done";
  }

  /** Output that precedes an exception still goes to the client. */
  #takePiece(translate: () => StreamPiece["ending"]): StreamPiece {
    const ending = this.#tryTo(translate);
    const bytes = this.#text === "" ? noBytes : Buffer.from(this.#text);
    this.#text = "";
    const usage = readTokenUsage(this.#reader.usage, this.#reader.usageDetails);
    const isPartial = ending === null && (this.#hasMore || this.#charactersInTurn >= charactersInTurnMax);
    return { bytes, usage, ending, isPartial };
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
/** Characters of events that are translated in one turn of the event loop, at least one event. Takes some 20 ms. */
const charactersInTurnMax = 1024 * 1024;
/** The characters that an event counts for besides its data. */
const eventCharacters = 256;
