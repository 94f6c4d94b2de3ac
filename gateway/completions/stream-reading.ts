import type { GatewayError } from "../errors.ts";
import type { BytesOrText } from "../wire/bytes.ts";
import type { TokenUsage } from "../wire/token-usage.ts";

/** Converts an upstream's stream to the client's events. */
export type StreamReading = {
  /** The required media type of the upstream's stream, without parameters. */
  readonly contentType: string;
  readonly output: { readonly tokens: number };
  push(bytes: Buffer): StreamPiece;
  /** Continues after a partial piece. */
  proceed?(): StreamPiece;
  /** Runs when the upstream's body ends. */
  end(): StreamPiece;
};

export type StreamPiece = {
  /** The next bytes for the client. May be empty. */
  bytes: BytesOrText;
  usage: TokenUsage | null;
  /** `done` for a complete stream, or an error. Null if the stream continues. */
  ending: "done" | GatewayError | null;
  /** Whether the reading must `proceed` in a later turn of the event loop, before the next `push`. */
  isPartial?: boolean;
};
