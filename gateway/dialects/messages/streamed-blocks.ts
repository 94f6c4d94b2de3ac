import { backslash, closeBrace, closeBracket, openBrace, openBracket, quote } from "../../wire/json.ts";
import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import type { StreamedBlock } from "./block-sequence.ts";
import { sealDetail, anthropicFormat } from "./sealed-detail.ts";

export class TextBlock implements StreamedBlock {
  readonly start = toTextBlock("");

  canEnd(): boolean {
    return true;
  }

  lastDelta(): null {
    return null;
  }
}

export function toTextBlock(text: string): object {
  return { type: "text", text, citations: null };
}

/** Reasoning that an upstream encrypted. It arrives in one piece. */
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

/** Readable reasoning. Anthropic's format puts the signature into the last delta. */
export class ThoughtBlock implements StreamedBlock {
  readonly start = { type: "thinking", thinking: "", signature: "" };
  /** The first detail of the reasoning. Null if the upstream sent only text. */
  readonly #detail: ReasoningDetail | null;
  #signature = "";

  constructor(detail: ReasoningDetail | null) {
    this.#detail = detail;
  }

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

/** Keeps Anthropic's signature unchanged and seals any other detail. */
export function toSignature(detail: ReasoningDetail | null, signature: string): string {
  if (detail?.format === anthropicFormat && signature !== "") return signature;
  return sealDetail(detail === null ? {} : { ...detail, ...(signature !== "" && { signature }) });
}

export function toRedactedData(detail: ReasoningDetail): string {
  return detail.format === anthropicFormat ? (detail.data ?? "") : sealDetail(detail);
}

export class CallBlock implements StreamedBlock {
  readonly start: object;
  readonly #end = new JsonEnd();

  constructor(id: string, name: string) {
    this.start = toCallBlock(id, name, {});
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

export function toCallBlock(id: string, name: string, input: Record<string, unknown>): object {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}

/** Detects the end of a JSON object or array that arrives in pieces. */
class JsonEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length && !this.#isOver; at++) this.#readCharacter(piece.charCodeAt(at));
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
