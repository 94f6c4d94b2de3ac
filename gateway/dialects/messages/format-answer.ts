import { GatewayError } from "../../errors.ts";
import type { ChatAnswer } from "../../providers/provider.ts";
import { isObject } from "../../wire/json.ts";
import { parseShallowObject } from "../../wire/parse-shallow-object.ts";
import type { AnswerEnvelope, DialectRequest } from "../dialect.ts";
import { formatMessage, showsThoughts, toBareId } from "./format-message.ts";
import { shortenedNames } from "./function-name.ts";
import { readAssistantMessage, type AssistantContent } from "./read-assistant-message.ts";
import { toRedactedData, toSignature } from "./streamed-blocks.ts";
import { anthropicFormat } from "./to-reasoning-detail.ts";
import { toStopReason } from "./to-stop-reason.ts";
import { toToolUseId } from "./tool-use-id.ts";

/** Formats a whole answer: reasoning, text and tool calls. */
export function formatAnswer(answer: ChatAnswer, envelope: AnswerEnvelope, { body }: DialectRequest): object {
  const choices: unknown[] = answer.choices;
  const choice = choices.find((each) => isObject(each) && each["index"] === 0) ?? choices[0];
  if (!isObject(choice)) {
    const message = "The provider's response contained no choice. Retry the request.";
    throw new GatewayError("upstream_error", message, { reason: "unreadable_answer" });
  }
  const assistant = readAssistantMessage(choice["message"]);
  const calls = formatCalls(assistant, envelope, body);
  const texts = [assistant.text, assistant.refusal].filter((text) => text !== "");
  // No seal follows the last text. The stream writer has the same rule.
  const sealed = calls.length > 0 || texts.length === 0 ? formatSealed(assistant) : [];
  const shown = [...texts.map((text) => ({ type: "text", text })), ...sealed, ...calls];
  const content = showsThoughts(body) ? withThoughts(shown, assistant) : shown;
  const hasCalls = calls.length > 0;
  return formatMessage(envelope, {
    content,
    stopReason: toStopReason(choice["finish_reason"], { hasCalls, isRefusal: assistant.refusal !== "" }),
    usage: answer.usage,
  });
}

/**
 * Anthropic's reasoning keeps its position. Other reasoning comes first. Details that repeat the text add its
 * origin.
 */
function withThoughts(content: object[], { reasoning, details }: AssistantContent): object[] {
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
  if (!hasReasoningText && reasoning !== "") {
    first.unshift({ type: "thinking", thinking: reasoning, signature: toSignature(null, "") });
  }
  const shown = [...first, ...content];
  const blocks: object[] = [];
  for (const [count, detail] of own.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).entries()) {
    const { text: thinking = "", signature, index = 0 } = detail;
    const position = Math.max(0, index - count);
    for (const before of shown.slice(blocks.length - count, position)) blocks.push(before);
    blocks.push(
      detail.type === "reasoning.encrypted"
        ? { type: "redacted_thinking", data: toRedactedData(detail) }
        : { type: "thinking", thinking, signature: toSignature(detail, signature ?? "") },
    );
  }
  return [...blocks, ...shown.slice(blocks.length - own.length)];
}

/**
 * Content that another upstream encrypted is not shown as reasoning. It precedes the calls, as signatures do.
 */
function formatSealed({ details }: AssistantContent): object[] {
  return details
    .filter(({ type, format }) => type === "reasoning.encrypted" && format !== anthropicFormat)
    .map((detail) => ({ type: "redacted_thinking", data: toRedactedData(detail) }));
}

function formatCalls(
  { calls }: AssistantContent,
  envelope: AnswerEnvelope,
  body: Record<string, unknown>,
): object[] {
  const names = shortenedNames(body);
  return calls.map(({ id, name, arguments: args }, index) => ({
    type: "tool_use",
    id: toToolUseId(id, `toolu_${toBareId(envelope)}_${index}`),
    name: names.get(name) ?? name,
    input: parseArguments(args),
  }));
}

/**
 * Truncated output may leave invalid arguments. They are wrapped as Anthropic recommends.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  return parseShallowObject(text) ?? { INVALID_JSON: text };
}
