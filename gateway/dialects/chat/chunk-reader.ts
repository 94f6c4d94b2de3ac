import type { GatewayError } from "../../errors.ts";
import { badAnswer, withoutChoices } from "../../wire/bad-answer.ts";
import { parseShortJson } from "../../wire/json.ts";
import { findReportedError, reportedError } from "../../wire/reported-error.ts";
import type { NativePiece, NativeReader } from "../dialect.ts";
import type { ChunkRewriter } from "./chunk-rewriter.ts";

export class ChunkReader implements NativeReader {
  readonly #rewriter: ChunkRewriter;

  constructor(rewriter: ChunkRewriter) {
    this.#rewriter = rewriter;
  }

  read(events: Buffer): NativePiece {
    const { text, usage, ending } = this.#rewriter.rewrite(events);
    if (ending === null) return { bytes: text, usage, ending };
    if (ending.kind === "done") {
      if (!this.#rewriter.hasChoice) return { bytes: text, usage, ending: withoutChoices() };
      return { bytes: text + this.#lastEvents(), usage, ending: "done" };
    }
    if (ending.kind === "failure") return { bytes: text, usage, ending: ending.error };
    const error =
      ending.kind === "error" ? readError(ending.payload) : badAnswer("not made of chat completion chunks");
    return { bytes: text, usage, ending: error };
  }

  /** Some upstreams omit `[DONE]`. */
  end(): NativePiece | null {
    if (!this.#rewriter.isFinished) return null;
    return { bytes: this.#lastEvents(), usage: null, ending: "done" };
  }

  /**
   * Some upstreams send the usage only with their last choices. A client that requested a usage chunk still
   * receives one.
   */
  #lastEvents(): string {
    const chunk = this.#rewriter.missingUsageChunk();
    const last = chunk === null ? "" : Buffer.from(`data: ${chunk}\n\n`).toString("latin1");
    return `${last}data: [DONE]\n\n`;
  }
}

function readError(payload: Buffer): GatewayError {
  const body = parseShortJson(payload, 0, payload.length);
  return findReportedError(body, "mid-stream") ?? reportedError(null, "mid-stream");
}
