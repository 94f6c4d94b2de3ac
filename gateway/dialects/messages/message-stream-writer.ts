import { GatewayError } from "../../errors.ts";
import type { ChatUsage, ChunkChoice, MatchedSequence, ReasoningDetail } from "../../wire/chat-completion.ts";
import { type AnswerEnvelope, type DialectRequest, idSuffix, type StreamWriter } from "../dialect.ts";
import type { ChoiceCall } from "../read-choice-content.ts";
import { backslash, closeBrace, closeBracket, openBrace, openBracket, quote } from "../../wire/json.ts";
import {
  formatMessage,
  readContent,
  showsThoughts,
  formatUsage,
  toCallBlock,
  toRedactedBlock,
  toSignature,
  toStopDetails,
  toStopReason,
  toStopSequence,
  toTextBlock,
} from "./format-answer.ts";
import { shortenedNames, toToolUseId } from "./tools.ts";
import { anthropicFormat } from "./sealed-detail.ts";

/** Writes an answer as Anthropic's stream events. https://platform.claude.com/docs/en/build-with-claude/streaming */
export class MessageStreamWriter implements StreamWriter {
  readonly #envelope: AnswerEnvelope;
  readonly #body: DialectRequest["body"];
  readonly #names: ReadonlyMap<string, string>;
  readonly #showsThoughts: boolean;
  readonly #blocks = new BlockSequence();
  #last: StreamedBlock | null = null;
  #refusal: TextBlock | null = null;
  /** The latest tool call of each upstream index. */
  readonly #calls = new Map<number, { id: string; block: CallBlock }>();
  #callCount = 0;
  /** Encrypted reasoning that arrived after text and waits for the next tool call. */
  #lateSeals: StreamedBlock[] = [];
  /** Whether details contain the reasoning text. Null before the first reasoning text. */
  #thinksInDetails: boolean | null = null;
  #hasBegun = false;
  #finishReason: unknown = null;
  #matched: MatchedSequence;

  constructor(envelope: AnswerEnvelope, { body }: Pick<DialectRequest, "body">) {
    this.#envelope = envelope;
    this.#body = body;
    this.#names = shortenedNames(body);
    this.#showsThoughts = showsThoughts(body);
  }

  write(choice: ChunkChoice, usage: Partial<ChatUsage> | null): string {
    const { index, delta, finish_reason: finishReason, stop_sequence: matched } = choice;
    // Anthropic's format has only one choice.
    if ((index ?? 0) !== 0) return "";
    this.#finishReason = finishReason ?? this.#finishReason;
    if (matched !== undefined) this.#matched = matched;
    const { text, refusal, thoughts, details, calls } = readContent(delta);
    let events = this.#begin(usage) + this.#think(thoughts, details);
    if (text !== "") events += this.#writeText(text);
    if (refusal !== "") events += this.#refuse(refusal);
    for (const detail of details) {
      const isShown = this.#showsThoughts || detail.format !== anthropicFormat;
      if (detail.type !== "reasoning.encrypted" || !isShown) continue;
      events += this.#seal(new StreamedBlock(toRedactedBlock(detail)));
    }
    for (const call of calls) events += this.#call(call);
    return events;
  }

  finish(usage: Partial<ChatUsage> | null): string {
    const events = this.#begin(usage) + this.#blocks.end();
    const outcome = {
      hasCalls: this.#callCount > 0,
      isRefusal: this.#refusal !== null,
      matched: this.#matched,
    };
    const stopReason = toStopReason(this.#finishReason, outcome);
    const delta = {
      container: null,
      stop_reason: stopReason,
      stop_sequence: toStopSequence(stopReason, this.#matched, this.#body),
      stop_details: toStopDetails(stopReason),
    };
    return `${events}${toEvent("message_delta", { delta, usage: formatUsage(usage) })}${toEvent("message_stop", {})}`;
  }

  #begin(usage: Partial<ChatUsage> | null): string {
    if (this.#hasBegun) return "";
    this.#hasBegun = true;
    const promptTokens = usage?.prompt_tokens ?? this.#envelope.estimateInputTokens();
    const started = { ...usage, prompt_tokens: promptTokens };
    const message = formatMessage(this.#envelope, { content: [], stopReason: null, usage: started });
    return toEvent("message_start", { message });
  }

  /** Writes either the details or `reasoning`, because upstreams may send the same text in both. */
  #think(reasoning: string, details: ReasoningDetail[]): string {
    if (!this.#showsThoughts) return "";
    const thoughts = details.filter(({ type }) => type !== "reasoning.encrypted");
    if (thoughts.some((detail) => textOf(detail) !== "")) this.#thinksInDetails ??= true;
    else if (reasoning !== "") this.#thinksInDetails ??= false;
    if (this.#thinksInDetails === false) return reasoning === "" ? "" : this.#thinkPiece(reasoning, null);
    return thoughts.map((detail) => this.#thinkPiece(textOf(detail), detail)).join("");
  }

  #thinkPiece(thinking: string, detail: ReasoningDetail | null): string {
    const last = this.#last instanceof ThoughtBlock && this.#last.isOf(detail) ? this.#last : null;
    const block = last ?? new ThoughtBlock(detail);
    block.sign(detail?.signature ?? "");
    if (thinking === "") return last ? "" : this.#add(block);
    return this.#add(block, { type: "thinking_delta", thinking });
  }

  #writeText(text: string): string {
    const goesOn = this.#last instanceof TextBlock && this.#last !== this.#refusal;
    return this.#add(goesOn && this.#last ? this.#last : new TextBlock(), { type: "text_delta", text });
  }

  #refuse(text: string): string {
    if (this.#refusal === null || this.#last !== this.#refusal) this.#refusal = new TextBlock();
    return this.#add(this.#refusal, { type: "text_delta", text });
  }

  /**
   * Delays encrypted reasoning after text until a tool call follows. Claude Code shows only the last block, and
   * Gemini needs its signatures only with tool calls.
   */
  #seal(block: StreamedBlock): string {
    if (!(this.#last instanceof TextBlock)) return this.#add(block);
    this.#lateSeals.push(block);
    return "";
  }

  #add(block: StreamedBlock, delta: object | null = null): string {
    this.#last = block;
    return this.#blocks.write(block, delta);
  }

  /** Some upstreams give all calls the same index. A new ID with a name starts a new call. */
  #call({ index, id, name, arguments: args }: ChoiceCall): string {
    const position = index ?? (id === "" ? this.#calls.size - 1 : this.#calls.size);
    const known = this.#calls.get(position);
    const isNext = known === undefined || (name !== "" && id !== "" && id !== known.id);
    const block = isNext ? this.#createCall(id, name) : known.block;
    const seals = this.#lateSeals.map((seal) => this.#add(seal)).join("");
    this.#lateSeals = [];
    if (isNext) this.#calls.set(position, { id, block });
    // Whitespace after the end of the arguments adds nothing.
    else if (args === "" || (block.canEnd() && args.trim() === "")) return seals;
    return seals + this.#add(block, args === "" ? null : block.addArguments(args));
  }

  #createCall(id: string, name: string): CallBlock {
    if (name === "") {
      const message = "The provider called a tool without a name. Retry the request.";
      throw new GatewayError("upstream_error", message, { reason: "unreadable_answer" });
    }
    const fallback = `toolu_${idSuffix(this.#envelope.id)}_${this.#callCount++}`;
    return new CallBlock(toToolUseId(id, fallback), this.#names.get(name) ?? name);
  }
}

function textOf({ text, summary }: ReasoningDetail): string {
  return text ?? summary ?? "";
}

/**
 * Writes content blocks one after another. Upstreams may interleave parallel calls, so deltas for a later block wait
 * until the open block ends. https://platform.claude.com/docs/en/build-with-claude/streaming#event-types
 */
class BlockSequence {
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

function toEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function mixed(what: string): GatewayError {
  const message = `The provider ${what}, which Anthropic's format cannot express. Retry the request.`;
  return new GatewayError("upstream_error", message, { reason: "unreadable_answer" });
}

/** Bounds the number of waiting deltas. A delta is at most as long as an upstream event. */
const waitingMax = 10_000;

class StreamedBlock {
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

class TextBlock extends StreamedBlock {
  constructor() {
    super(toTextBlock(""));
  }
}

/** Readable reasoning. Anthropic's format puts the signature into the last delta. */
class ThoughtBlock extends StreamedBlock {
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

/** A call ends with its arguments, a JSON object or array that arrives in pieces. */
class CallBlock extends StreamedBlock {
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
