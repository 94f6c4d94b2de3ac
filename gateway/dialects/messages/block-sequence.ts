import { GatewayError } from "../../errors.ts";

export type StreamedBlock = {
  /** The `content_block` of the block's start event. */
  start: object;
  /** Whether the block may end when another block is ready. */
  canEnd(): boolean;
  /** The delta before the block's end, if any. */
  lastDelta(): object | null;
};

/**
 * Writes content blocks one after another. Upstreams may interleave parallel calls, so deltas for a later block wait
 * until the open block ends. https://platform.claude.com/docs/en/build-with-claude/streaming#event-types
 */
export class BlockSequence {
  #index = -1;
  #open: StreamedBlock | null = null;
  readonly #waiting = new Map<StreamedBlock, object[]>();
  #waitingCount = 0;
  readonly #ended = new WeakSet<StreamedBlock>();

  /** @param delta null if the block only begins */
  write(block: StreamedBlock, delta: object | null): string {
    if (this.#ended.has(block)) throw mixed("continued a tool call after its end");
    if (block === this.#open) return this.#toEvent(delta) + this.#proceed();
    if (this.#waiting.size === 0 && (this.#open?.canEnd() ?? true)) {
      return this.#endOpen() + this.#begin(block) + this.#toEvent(delta);
    }
    this.#wait(block, delta);
    return this.#proceed();
  }

  end(): string {
    let text = this.#endOpen();
    for (const [block, deltas] of this.#waiting) text += this.#writeWhole(block, deltas) + this.#endOpen();
    this.#waiting.clear();
    return text;
  }

  #wait(block: StreamedBlock, delta: object | null): void {
    const deltas = this.#waiting.get(block) ?? [];
    this.#waiting.set(block, deltas);
    if (delta === null) return;
    if (++this.#waitingCount > waitingMax) throw mixed("interleaved too many tool calls");
    deltas.push(delta);
  }

  /** Writes waiting blocks in order, and stops after a block that cannot end yet. */
  #proceed(): string {
    let text = "";
    for (const [block, deltas] of this.#waiting) {
      if (!(this.#open?.canEnd() ?? true)) break;
      this.#waiting.delete(block);
      this.#waitingCount -= deltas.length;
      text += this.#endOpen() + this.#writeWhole(block, deltas);
    }
    return text;
  }

  #writeWhole(block: StreamedBlock, deltas: object[]): string {
    return this.#begin(block) + deltas.map((delta) => this.#toEvent(delta)).join("");
  }

  #begin(block: StreamedBlock): string {
    this.#open = block;
    this.#index++;
    return toEvent("content_block_start", { index: this.#index, content_block: block.start });
  }

  #endOpen(): string {
    const block = this.#open;
    if (block === null) return "";
    const text = this.#toEvent(block.lastDelta());
    this.#open = null;
    this.#ended.add(block);
    return text + toEvent("content_block_stop", { index: this.#index });
  }

  #toEvent(delta: object | null): string {
    return delta === null ? "" : toEvent("content_block_delta", { index: this.#index, delta });
  }
}

export function toEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function mixed(what: string): GatewayError {
  const message = `The provider ${what}, which Anthropic's format cannot express. Retry the request.`;
  return new GatewayError("upstream_error", message, { reason: "unreadable_answer" });
}

/** Bounds the number of waiting deltas. A delta is at most as long as an upstream event. */
const waitingMax = 10_000;
