import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import type { StreamedBlock } from "./block-sequence.ts";
import { sealDetail } from "./sealed-detail.ts";
import { anthropicFormat } from "./to-reasoning-detail.ts";

export class TextBlock implements StreamedBlock {
  readonly start = { type: "text", text: "" };

  canEnd(): boolean {
    return true;
  }

  lastDelta(): null {
    return null;
  }
}

/** A thought that its upstream has encrypted, and which comes at once. */
export class RedactedBlock implements StreamedBlock {
  readonly start: object;

  constructor(detail: ReasoningDetail) {
    this.start = { type: "redacted_thinking", data: toRedactedData(detail) };
  }

  canEnd(): boolean {
    return true;
  }

  lastDelta(): null {
    return null;
  }
}

/** A thought, whose signature comes last. */
export class ThoughtBlock implements StreamedBlock {
  readonly start = { type: "thinking", thinking: "", signature: "" };
  /** Whose it is, and its place among the thoughts; null where nobody said. */
  readonly #detail: ReasoningDetail | null;
  #signature = "";

  constructor(detail: ReasoningDetail | null) {
    this.#detail = detail;
  }

  /** Whether the piece goes on with this thought. */
  isOf(detail: ReasoningDetail | null): boolean {
    return detail?.format === this.#detail?.format && detail?.index === this.#detail?.index;
  }

  sign(signature: string): void {
    this.#signature += signature;
  }

  canEnd(): boolean {
    return true;
  }

  lastDelta(): object {
    return { type: "signature_delta", signature: toSignature(this.#detail, this.#signature) };
  }
}

/** Anthropic's own as it is, all others sealed. */
export function toSignature(detail: ReasoningDetail | null, signature: string): string {
  if (detail?.format === anthropicFormat && signature !== "") return signature;
  return sealDetail(detail === null ? {} : { ...detail, ...(signature !== "" && { signature }) });
}

/** The data of a block for a thought that its upstream has encrypted. */
export function toRedactedData(detail: ReasoningDetail): string {
  return detail.format === anthropicFormat ? (detail.data ?? "") : sealDetail(detail);
}

export class CallBlock implements StreamedBlock {
  readonly start: object;
  readonly #end = new JsonEnd();

  constructor(id: string, name: string) {
    this.start = { type: "tool_use", id, name, input: {} };
  }

  addArguments(piece: string): object {
    this.#end.push(piece);
    return { type: "input_json_delta", partial_json: piece };
  }

  canEnd(): boolean {
    return this.#end.isOver;
  }

  lastDelta(): null {
    return null;
  }
}

/** Tells when a JSON object that comes in pieces has come to its end. Text that is none has no end. */
class JsonEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length && !this.#isOver; at++) this.#take(piece.charCodeAt(at));
  }

  #take(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = this.#isInString;
    else if (code === quote) this.#isInString = !this.#isInString;
    else if (this.#isInString) return;
    else if (code === openBrace || code === openBracket) this.#depth++;
    else if (code === closeBrace || code === closeBracket) this.#isOver = --this.#depth <= 0;
  }
}

const backslash = 0x5c;
const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
