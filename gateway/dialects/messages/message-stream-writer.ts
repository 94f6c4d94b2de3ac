import { GatewayError } from "../../errors.ts";
import type { ChatUsage, ChunkChoice, MatchedSequence, ReasoningDetail } from "../../wire/chat-completion.ts";
import { type AnswerEnvelope, type DialectRequest, idSuffix, type StreamWriter } from "../dialect.ts";
import {
  BlockSequence,
  StreamedBlock,
  toEvent,
  CallBlock,
  TextBlock,
  ThoughtBlock,
  toRedactedBlock,
} from "./message-blocks.ts";
import type { ChoiceCall } from "../read-choice-content.ts";
import {
  formatMessage,
  readContent,
  showsThoughts,
  formatUsage,
  toStopDetails,
  toStopReason,
  toStopSequence,
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
