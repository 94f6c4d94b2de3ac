import { GatewayError } from "../../errors.ts";
import { backslash, closeBrace, closeBracket, openBrace, openBracket, quote } from "../../wire/json.ts";
import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { sealDetail, anthropicFormat } from "./sealed-detail.ts";

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

export class StreamedBlock {
  /** The `content_block` of the block's start event. */
  readonly start: object;

  constructor(start: object) {
    this.start = start;
  }

  /** Whether the block may end when another block is ready. */
  canEnd(): boolean {
    return true;
  }

  /** The delta before the block's end, if any. */
  lastDelta(): object | null {
    return null;
  }
}

export class TextBlock extends StreamedBlock {
  constructor() {
    super(toTextBlock(""));
  }
}

export function toTextBlock(text: string): object {
  return { type: "text", text, citations: null };
}

/** Readable reasoning. Anthropic's format puts the signature into the last delta. */
export class ThoughtBlock extends StreamedBlock {
  /** The first detail of the reasoning. Null if the upstream sent only text. */
  readonly #detail: ReasoningDetail | null;
  #signature = "";

  constructor(detail: ReasoningDetail | null) {
    super({ type: "thinking", thinking: "", signature: "" });
    this.#detail = detail;
  }

  isOf(detail: ReasoningDetail | null): boolean {
    const first = this.#detail;
    return detail?.format === first?.format && detail?.index === first?.index && detail?.id === first?.id;
  }

  sign(signature: string): void {
    this.#signature += signature;
  }

  override lastDelta(): object {
    return { type: "signature_delta", signature: toSignature(this.#detail, this.#signature) };
  }
}

/** Keeps Anthropic's signature unchanged and seals any other detail. */
export function toSignature(detail: ReasoningDetail | null, signature: string): string {
  if (detail?.format === anthropicFormat && signature !== "") return signature;
  return sealDetail(detail === null ? {} : { ...detail, ...(signature !== "" && { signature }) });
}

/** Reasoning that an upstream encrypted. It arrives in one piece. */
export function toRedactedBlock(detail: ReasoningDetail): object {
  const data = detail.format === anthropicFormat ? (detail.data ?? "") : sealDetail(detail);
  return { type: "redacted_thinking", data };
}

/** A call ends with its arguments, a JSON object or array that arrives in pieces. */
export class CallBlock extends StreamedBlock {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;

  constructor(id: string, name: string) {
    super(toCallBlock(id, name, {}));
  }

  addArguments(piece: string): object {
    for (let at = 0; at < piece.length && !this.#isOver; at++) this.#readCharacter(piece.charCodeAt(at));
    return { type: "input_json_delta", partial_json: piece };
  }

  override canEnd(): boolean {
    return this.#isOver;
  }

  #readCharacter(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = this.#isInString;
    else if (code === quote) this.#isInString = !this.#isInString;
    else if (this.#isInString) return;
    else if (code === openBrace || code === openBracket) this.#depth++;
    else if (code === closeBrace || code === closeBracket) this.#isOver = --this.#depth <= 0;
  }
}

export function toCallBlock(id: string, name: string, input: Record<string, unknown>): object {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}
