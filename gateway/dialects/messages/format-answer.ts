import { GatewayError } from "../../errors.ts";
import { isObject, listOf } from "../../wire/json.ts";
import { parseArguments } from "../../wire/parse-shallow-object.ts";
import type { ChatAnswer } from "../../providers/provider.ts";
import { type AnswerEnvelope, type DialectRequest, idSuffix } from "../dialect.ts";
import { type ChoiceContent, readChoiceContent } from "../read-choice-content.ts";
import { shortenedNames, toToolUseId } from "./tools.ts";
import { anthropicFormat, sealDetail } from "./sealed-detail.ts";
import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { readTokenUsage } from "../../wire/token-usage.ts";

export function formatAnswer(answer: ChatAnswer, envelope: AnswerEnvelope, { body }: DialectRequest): object {
  const choices: unknown[] = answer.choices;
  const choice = choices.find((each) => isObject(each) && each["index"] === 0) ?? choices[0];
  if (!isObject(choice)) {
    const message = "The provider's response contained no choice. Retry the request.";
    throw new GatewayError("upstream_error", message, { reason: "unreadable_answer" });
  }
  const assistant = readContent(choice["message"]);
  const names = shortenedNames(body);
  const calls = assistant.calls.map(({ id, name, arguments: args }, index) => {
    const blockId = toToolUseId(id, `toolu_${idSuffix(envelope.id)}_${index}`);
    return toCallBlock(blockId, names.get(name) ?? name, parseArguments(args));
  });
  const texts = [assistant.text, assistant.refusal].filter((text) => text !== "");
  // Encrypted reasoning after text is kept only before calls, as in `MessageStreamWriter`.
  const sealed = calls.length > 0 || texts.length === 0 ? formatSealed(assistant) : [];
  const shown = [...texts.map(toTextBlock), ...sealed, ...calls];
  const content = showsThoughts(body) ? withThoughts(shown, assistant) : shown;
  const { stop_sequence: matched, finish_reason: finishReason } = choice;
  const outcome = { hasCalls: calls.length > 0, isRefusal: assistant.refusal !== "", matched };
  const stopReason = toStopReason(finishReason, outcome);
  return formatMessage(envelope, {
    content,
    stopReason,
    stopSequence: toStopSequence(stopReason, matched, body),
    usage: answer.usage,
  });
}

/** Anthropic's API has no images in answers, and a data URL as text would fill the client's context. */
export function readContent(message: unknown): ChoiceContent {
  const content = readChoiceContent(message, "unknown");
  const note = "\n\n[The model returned an image, which the Messages API cannot carry.]";
  content.text += note.repeat(content.images.length);
  return content;
}

/**
 * Anthropic's reasoning keeps its position. Other readable reasoning comes first. `thoughts` are shown only if the
 * details contain no text.
 */
function withThoughts(content: object[], { thoughts, details }: ChoiceContent): object[] {
  const own = details.filter(({ format }) => format === anthropicFormat);
  const others = details.filter(
    (each) => each.format !== anthropicFormat && each.type !== "reasoning.encrypted",
  );
  const first = others.map((detail) => ({
    type: "thinking",
    thinking: detail.text ?? detail.summary ?? "",
    signature: toSignature(detail, detail.signature ?? ""),
  }));
  const hasReasoningText = first.some(({ thinking }) => thinking !== "") || own.some(({ text }) => text);
  if (!hasReasoningText && thoughts !== "") {
    first.unshift({ type: "thinking", thinking: thoughts, signature: toSignature(null, "") });
  }
  const shown = [...first, ...content];
  const blocks: object[] = [];
  for (const [count, detail] of own.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).entries()) {
    const { text: thinking = "", signature, index = 0 } = detail;
    const position = Math.max(0, index - count);
    for (const before of shown.slice(blocks.length - count, position)) blocks.push(before);
    blocks.push(
      detail.type === "reasoning.encrypted"
        ? toRedactedBlock(detail)
        : { type: "thinking", thinking, signature: toSignature(detail, signature ?? "") },
    );
  }
  return [...blocks, ...shown.slice(blocks.length - own.length)];
}

function formatSealed({ details }: ChoiceContent): object[] {
  return details
    .filter(({ type, format }) => type === "reasoning.encrypted" && format !== anthropicFormat)
    .map(toRedactedBlock);
}

/**
 * Contains every member that Anthropic always sends, because strict clients require them.
 * https://platform.claude.com/docs/en/api/messages/create
 */
export function formatMessage(
  envelope: AnswerEnvelope,
  { content, stopReason, stopSequence = null, usage }: MessageParts,
): object {
  return {
    id: `msg_${idSuffix(envelope.id)}`,
    type: "message",
    role: "assistant",
    model: envelope.slug,
    container: null,
    content,
    stop_reason: stopReason,
    stop_sequence: stopSequence,
    stop_details: stopReason === null ? null : toStopDetails(stopReason),
    diagnostics: null,
    usage: formatUsage(usage),
  };
}

type MessageParts = {
  content: object[];
  stopReason: StopReason | null;
  stopSequence?: string | null;
  usage: unknown;
};

/** Whether the answer may contain thinking blocks. A client without thinking may expect text in the first block. */
export function showsThoughts({ thinking }: Record<string, unknown>): boolean {
  return !isObject(thinking) || thinking["type"] !== "disabled";
}

/**
 * Anthropic's counts: `input_tokens` excludes cache reads and writes. Missing counts become 0 where clients expect
 * numbers, and null elsewhere. The lifetime of written tokens is unknown.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function formatUsage(usage: unknown): object {
  const counts = readTokenUsage(usage);
  const cached = counts?.cachedInputTokens ?? 0;
  const written = counts?.cacheWriteInputTokens ?? 0;
  const reasoning = counts?.reasoningTokens ?? null;
  return {
    input_tokens: Math.max(0, (counts?.inputTokens ?? 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: counts?.outputTokens ?? 0,
    output_tokens_details: reasoning === null ? null : { thinking_tokens: reasoning },
    cache_creation: written === 0 ? { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 } : null,
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  };
}

/**
 * Calls override the reason `stop`, which some upstreams send after a call. Clients run calls only after
 * `tool_use`.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export function toStopReason(
  finishReason: unknown,
  outcome: { hasCalls: boolean; isRefusal: boolean; matched: unknown },
): StopReason {
  if (finishReason === "length") return "max_tokens";
  if (finishReason === "content_filter" || outcome.isRefusal) return "refusal";
  if (outcome.hasCalls) return "tool_use";
  return outcome.matched === undefined ? "end_turn" : "stop_sequence";
}

/** An upstream that does not name the matched sequence can only mean the only one. */
export function toStopSequence(
  stopReason: StopReason,
  matched: unknown,
  { stop_sequences: sequences }: Record<string, unknown>,
): string | null {
  if (stopReason !== "stop_sequence") return null;
  const [only, ...others] = listOf(sequences);
  const sequence = matched ?? (others.length === 0 ? only : null);
  return typeof sequence === "string" ? sequence : null;
}

type StopReason = "end_turn" | "stop_sequence" | "max_tokens" | "tool_use" | "refusal";

export function toStopDetails(stopReason: StopReason): object | null {
  return stopReason === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
}

export function toTextBlock(text: string): object {
  return { type: "text", text, citations: null };
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

export function toCallBlock(id: string, name: string, input: Record<string, unknown>): object {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}
