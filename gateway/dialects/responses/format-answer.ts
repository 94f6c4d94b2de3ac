import type { ChatAnswer } from "../../providers/provider.ts";
import { type AnswerEnvelope, type DialectRequest, idSuffix } from "../dialect.ts";
import {
  formatCall,
  formatImage,
  formatMessage,
  formatPart,
  formatReasoning,
  idPrefixOf,
} from "./format-items.ts";
import { readChoiceContent } from "../read-choice-content.ts";
import { ToolTable } from "./tools.ts";
import { isObject, listOf } from "../../wire/json.ts";
import type { ReasoningDetail, ChatUsage, FinishReason } from "../../wire/chat-completion.ts";
import { sealReasoning } from "./sealed-content.ts";
import { readTokenUsage } from "../../wire/token-usage.ts";

/** The Responses API returns one answer, so further choices are dropped. */
export function formatAnswer(
  { choices, usage }: ChatAnswer,
  envelope: AnswerEnvelope,
  { body }: DialectRequest,
): object {
  const table = new ToolTable(body);
  const choice = choices.find(({ index }) => index === 0) ?? choices[0];
  const incompleteReason = incompleteReasonOf(choice?.finish_reason ?? null);
  const status = incompleteReason === null ? "completed" : "incomplete";
  const { thoughts, details, text, refusal, images, calls } = readChoiceContent(choice?.message);
  const output: object[] = [];
  const nextId = (prefix: string) => `${prefix}_${idSuffix(envelope.id)}_${output.length}`;

  const hidden = new HiddenReasoning();
  const isShown = includes(body, "reasoning.encrypted_content");
  if (thoughts !== "" || (details.length > 0 && (isShown || envelope.keep !== null))) {
    if (!isShown) hidden.add(output.length, details);
    output.push(formatReasoning(nextId("rs"), thoughts, isShown ? details : []));
  }
  const logprobs = includes(body, "message.output_text.logprobs") ? formatLogprobs(choice?.logprobs) : [];
  const parts = [
    ...(text === "" ? [] : [formatPart("output_text", text, logprobs)]),
    ...(refusal === "" ? [] : [formatPart("refusal", refusal, [])]),
  ];
  if (parts.length > 0) {
    output.push(formatMessage(nextId("msg"), calls.length > 0 ? "completed" : status, parts));
  }
  for (const image of images) output.push(formatImage(nextId("ig"), image));
  for (const [index, { id, name, arguments: args }] of calls.entries()) {
    const tool = table.find(name);
    const callId = id || `call_${idSuffix(envelope.id)}_${index}`;
    const call = { id: nextId(idPrefixOf(tool)), callId, tool, name };
    output.push(formatCall(call, index === calls.length - 1 ? status : "completed", args));
  }
  const echo = echoRequest(body, table, envelope);
  return hidden.keep(formatResponse(envelope, echo, { status, output, usage, incompleteReason }), envelope);
}

export function formatLogprobs(logprobs: unknown): object[] {
  const tokens = isObject(logprobs) ? logprobs["content"] : null;
  return listOf(tokens).flatMap((token) => {
    const known = formatToken(token);
    if (known === null || !isObject(token)) return [];
    return [
      { ...known, top_logprobs: listOf(token["top_logprobs"]).flatMap((top) => formatToken(top) ?? []) },
    ];
  });
}

function formatToken(value: unknown): { token: string; logprob: number; bytes: number[] } | null {
  if (!isObject(value)) return null;
  const { token, logprob, bytes } = value;
  if (typeof token !== "string" || typeof logprob !== "number") return null;
  return { token, logprob, bytes: listOf(bytes).filter((byte): byte is number => Number.isInteger(byte)) };
}

/** Reasoning that the client did not request, but a follow-up needs. It is kept with the response. */
export class HiddenReasoning {
  /** The sealed reasoning, by the position of its item. */
  readonly #sealed = new Map<number, string>();

  add(index: number, details: readonly ReasoningDetail[]): void {
    if (details.length > 0) this.#sealed.set(index, sealReasoning(details));
  }

  keep(response: FormattedResponse, { keep }: Pick<AnswerEnvelope, "keep">): object {
    if (keep === null) return response;
    const output = response.output.map((item, index) => {
      const sealed = this.#sealed.get(index);
      return sealed === undefined ? item : { ...item, encrypted_content: sealed };
    });
    return keep({ response, output }) ? response : { ...response, store: false };
  }
}

export function includes({ include }: Record<string, unknown>, what: Includable): boolean {
  return Array.isArray(include) && include.includes(what);
}

type Includable = "reasoning.encrypted_content" | "message.output_text.logprobs";

type ResponseState = {
  status: "in_progress" | "completed" | "incomplete" | "failed";
  output: readonly object[];
  /** Null while unknown. A finished response without usage, such as a warm-up, reports zeros. */
  usage: Partial<ChatUsage> | null;
  incompleteReason?: IncompleteReason | null;
  error?: { code: string; message: string };
};

/** Declares only the members that the gateway reads. */
type FormattedResponse = { id: string; output: readonly object[] };

type IncompleteReason = "max_output_tokens" | "content_filter";

/**
 * https://platform.openai.com/docs/api-reference/responses/object
 * @param echo the repeated members of the request
 */
export function formatResponse(
  { id, createdSeconds, nowSeconds, slug }: AnswerEnvelope,
  echo: object,
  { status, output, usage, incompleteReason, error }: ResponseState,
): FormattedResponse {
  const isAtEnd = status === "completed" || status === "incomplete";
  const response = {
    id: `resp_${idSuffix(id)}`,
    object: "response",
    created_at: createdSeconds,
    completed_at: status === "completed" ? nowSeconds() : null,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: incompleteReason ? { reason: incompleteReason } : null,
    model: slug,
    output,
    ...echo,
    usage: isAtEnd ? formatUsage(usage) : null,
  };
  return response;
}

export function incompleteReasonOf(finishReason: FinishReason | null): IncompleteReason | null {
  if (finishReason === "length") return "max_output_tokens";
  return finishReason === "content_filter" ? "content_filter" : null;
}

/** Clients require every member, so missing counts become 0. */
export function formatUsage(usage: Partial<ChatUsage> | null): object {
  const counts = readTokenUsage(usage);
  const input = counts?.inputTokens ?? 0;
  const output = counts?.outputTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: counts?.cachedInputTokens ?? 0,
      cache_write_tokens: counts?.cacheWriteInputTokens ?? 0,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: counts?.reasoningTokens ?? 0 },
    total_tokens: input + output,
  };
}

export function echoRequest(
  body: Record<string, unknown>,
  table: ToolTable,
  { previousResponseId, keep }: Pick<AnswerEnvelope, "previousResponseId" | "keep">,
): object {
  return {
    instructions: stringOrNull(body["instructions"]),
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    metadata: echoMetadata(body["metadata"]),
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: previousResponseId,
    prompt_cache_key: stringOrNull(body["prompt_cache_key"]),
    reasoning: echoReasoning(body["reasoning"]),
    presence_penalty: body["presence_penalty"] ?? 0,
    frequency_penalty: body["frequency_penalty"] ?? 0,
    safety_identifier: stringOrNull(body["safety_identifier"]),
    // Open Responses requires a string, and translated requests set no other tier.
    service_tier: "default",
    store: keep !== null,
    temperature: body["temperature"] ?? 1,
    text: echoText(body["text"]),
    tool_choice: echoToolChoice(body["tool_choice"]),
    tools: table.shown,
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: "disabled",
    ...(typeof body["user"] === "string" && { user: body["user"] }),
  };
}

function echoMetadata(value: unknown): object {
  const entries = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(entries.filter(([, text]) => typeof text === "string"));
}

function echoReasoning(value: unknown): object {
  const { effort, summary } = isObject(value) ? value : {};
  return { effort: oneOf(effort, efforts), summary: oneOf(summary, ["auto", "concise", "detailed"]) };
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function echoText(value: unknown): object {
  const { format, verbosity } = isObject(value) ? value : {};
  const known = oneOf(verbosity, ["low", "medium", "high"]);
  return { format: echoFormat(format), ...(known !== null && { verbosity: known }) };
}

function echoFormat(format: unknown): object {
  if (!isObject(format)) return { type: "text" };
  const { type, name, description, schema, strict } = format;
  if (type !== "json_schema") return { type };
  const about = typeof description === "string" ? { description } : {};
  return { type, name, ...about, schema, strict: strict ?? false };
}

function echoToolChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice ?? "auto";
  const { type, name, mode, tools } = choice;
  if (type === "allowed_tools") return { type, mode: mode === "required" ? mode : "auto", tools };
  if (type === "function" || type === "custom") return { type, name };
  return type === "shell" || type === "apply_patch" ? { type } : "required";
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function oneOf(value: unknown, known: readonly string[]): string | null {
  return typeof value === "string" && known.includes(value) ? value : null;
}
