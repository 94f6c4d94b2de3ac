import { upstreamReported } from "./bad-answer.ts";
import { isObject, listOf } from "./json.ts";
import { reportedError } from "./reported-error.ts";

/** The internal format is OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat */
export type ChatRequestBody = {
  model: string;
  messages: ChatMessage[];
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean } | null;
  [field: string]: unknown;
};

export type ChatMessage = {
  role: ChatRole;
  content?: string | ContentPart[] | null;
  [field: string]: unknown;
};

/** In OpenAI's API, the type is `text`, `image_url`, `input_audio`, `file` or `refusal`. */
export type ContentPart = { type: string; [field: string]: unknown };

export const chatRoles = ["system", "developer", "user", "assistant", "tool", "function"] as const;

type ChatRole = (typeof chatRoles)[number];

/** https://platform.openai.com/docs/api-reference/chat/object */
export type CompletionChoice = {
  index: number;
  message: AssistantMessage;
  logprobs: object | null;
  finish_reason: FinishReason;
  stop_sequence?: MatchedSequence;
};

/** The stop sequence that ended the choice, or null for an unknown one. Undefined if none did. */
export type MatchedSequence = string | null | undefined;

export type AssistantMessage = {
  role: "assistant";
  content: string | null;
  refusal: string | null;
  /** The name is DeepSeek's. OpenAI's API has no equivalent. */
  reasoning_content?: string;
  reasoning_details?: ReasoningDetail[];
  images?: ImagePart[];
  tool_calls?: ToolCall[];
};

/**
 * An image that the model made, as a data URL. The shape is OpenRouter's, because OpenAI's API has none.
 * https://openrouter.ai/docs/guides/overview/multimodal/image-generation
 */
export type ImagePart = { type: "image_url"; image_url: { url: string } };

/** Returns the data URLs of the images in a message or delta. Ignores malformed images. */
export function imageUrlsIn(images: unknown): string[] {
  return listOf(images).flatMap((image) => {
    const url = isObject(image) && isObject(image["image_url"]) ? image["image_url"]["url"] : null;
    return typeof url === "string" ? [url] : [];
  });
}

export type ToolCall = { id: string; type: "function"; function: { name: string; arguments: string } };

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Reasoning with its signatures, for clients that send the assistant's message back unchanged. The shape is
 * OpenRouter's. https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
export type ReasoningDetail = {
  type: "reasoning.text" | "reasoning.encrypted" | "reasoning.summary";
  /** The format of the provider's reasoning, such as `anthropic-claude-v1`. */
  format: string;
  /** In Gemini's format, the ID of the signed tool call, or null for a signed text. */
  id?: string | null;
  /** In a stream, pieces with the same index belong to one detail. */
  index?: number;
  text?: string | null;
  signature?: string | null;
  data?: string;
  summary?: string;
};

/** https://platform.openai.com/docs/api-reference/chat/streaming */
export type ChunkChoice = {
  index: number;
  delta: ChunkDelta;
  logprobs?: object | null;
  finish_reason: FinishReason | null;
  stop_sequence?: MatchedSequence;
};

export type ChunkDelta = {
  role?: "assistant";
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string;
  reasoning_details?: ReasoningDetail[];
  images?: ImagePart[];
  tool_calls?: ToolCallDelta[];
};

/** The first piece of a call contains its ID, type and name. */
type ToolCallDelta = {
  index: number;
  id?: string;
  type?: "function";
  function: { name?: string; arguments: string };
};

/** `prompt_tokens` includes cached and cache-write tokens. `completion_tokens` includes reasoning. */
export type ChatUsage = {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
};

/** https://platform.openai.com/docs/api-reference/embeddings/create */
export type EmbeddingsRequestBody = {
  model: string;
  /** Numbers are token IDs. */
  input: string | string[] | number[] | number[][];
  encoding_format?: "float" | "base64" | null;
  dimensions?: number | null;
  [field: string]: unknown;
};

export type ChatQuirks = {
  maxTokensName: "max_completion_tokens" | "max_tokens";
  developerRole: "developer" | "system";
  /**
   * `thoughts` means `reasoning_content` and `reasoning_details` in assistant messages. `own thoughts` means the
   * `reasoning_content` of upstreams without details, which only such an upstream can have sent.
   */
  extensions: readonly ("thoughts" | "own thoughts" | "cache_control" | "verbosity")[];
  /**
   * The upstream's parameter that switches reasoning off: DeepSeek's `thinking`, Qwen's `enable_thinking` or
   * OpenRouter's `reasoning`. `low effort` is for models that always reason. Undefined if unknown.
   */
  thinkingSwitch?: "thinking" | "enable_thinking" | "reasoning" | "low effort" | undefined;
};

/** Whether the upstream needs another parameter than the effort `none`. */
export function convertsNone(body: ChatRequestBody, { thinkingSwitch }: ChatQuirks): boolean {
  return (
    body["reasoning_effort"] === "none" && thinkingSwitch !== undefined && thinkingSwitch !== "reasoning"
  );
}

function withoutReasoning(thinkingSwitch: ChatQuirks["thinkingSwitch"]): Record<string, unknown> {
  switch (thinkingSwitch) {
    case "thinking":
      return { thinking: { type: "disabled" } };
    case "enable_thinking":
      return { enable_thinking: false };
    default:
      return { reasoning_effort: "low" };
  }
}

export function applyQuirks(body: ChatRequestBody, quirks: ChatQuirks): ChatRequestBody {
  const { developerRole, maxTokensName, thinkingSwitch } = quirks;
  const { max_completion_tokens: maxTokens, reasoning_effort: effort, ...rest } = body;
  return {
    ...rest,
    ...(convertsNone(body, quirks)
      ? withoutReasoning(thinkingSwitch)
      : effort !== undefined && { reasoning_effort: effort }),
    // A null `max_completion_tokens` must not replace a number in `max_tokens`.
    ...(maxTokens !== undefined && maxTokens !== null && { [maxTokensName]: maxTokens }),
    ...(developerRole !== "developer" && {
      messages: body.messages.map((message) =>
        message.role === "developer" ? { ...message, role: developerRole } : message,
      ),
    }),
  };
}

/**
 * Skips details without a valid type.
 * @param unknownFormat the format of details without a format. Undefined skips such details.
 */
export function readReasoningDetails(details: unknown, unknownFormat?: string): ReasoningDetail[] {
  return listOf(details).flatMap((value) => {
    const { type, format = unknownFormat, ...detail } = readPartialDetail(value);
    return type === undefined || format === undefined ? [] : [{ type, format, ...detail }];
  });
}

export function readPartialDetail(value: unknown): Partial<ReasoningDetail> {
  if (!isObject(value)) return {};
  const { type, index } = value;
  const texts = (["format", "id", "text", "signature", "data", "summary"] as const).flatMap((name) => {
    const text = value[name];
    return typeof text === "string" ? [[name, text] as const] : [];
  });
  return {
    ...(isType(type) && { type }),
    ...(typeof index === "number" && { index }),
    ...Object.fromEntries(texts),
  };
}

function isType(type: unknown): type is ReasoningDetail["type"] {
  return type === "reasoning.text" || type === "reasoning.encrypted" || type === "reasoning.summary";
}

/** Null while the choice continues. Throws `upstreamReported(…)` for failures (vLLM's `abort`) and unknown reasons. */
export function readFinishReason(choice: Record<string, unknown>): FinishReason | null {
  const { finish_reason: reason, error } = choice;
  // Some upstreams send an empty text until the end.
  if (typeof reason !== "string" || reason === "") return null;
  const known = finishReasons.get(reason.toLowerCase());
  if (known !== undefined) return known;
  if (isObject(error) || typeof error === "string") throw reportedError(error);
  const shown = /^[\w.-]{1,64}$/.test(reason) ? `the reason ${reason}` : "an unknown reason";
  throw upstreamReported(`The provider ended its response with ${shown}. Retry the request.`);
}

/** Throws like `readFinishReason`. Quotes within a text are escaped, so only members match. */
export function countFinished(choices: string): number {
  let count = 0;
  // `matchAll` would take some microseconds to copy the pattern.
  finishReasonMember.lastIndex = 0;
  for (let match = finishReasonMember.exec(choices); match; match = finishReasonMember.exec(choices)) {
    readFinishReason({ finish_reason: match[1] });
    count++;
  }
  return count;
}

const finishReasonMember = /"finish_reason"\s*:\s*"([^"]+)"/g;

/** Whether the reason is known and no failure. */
export function isFinishReason(reason: string): boolean {
  return finishReasons.has(reason);
}

/** OpenAI's reasons, and those of its imitators. */
const reasonNames: Record<FinishReason, readonly string[]> = {
  stop: ["stop", "eos", "eos_token", "stop_sequence", "end_turn", "complete", "completed"],
  // Mistral returns `model_length` for a full context.
  length: ["length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"],
  tool_calls: ["tool_calls", "tool_call", "tool_use", "function_call"],
  // `sensitive` is Zhipu's.
  content_filter: ["content_filter", "content_filtered", "safety", "refusal", "sensitive"],
};

const finishReasons = new Map(
  Object.entries(reasonNames).flatMap(([reason, names]) =>
    names.map((name) => [name, reason as FinishReason] as const),
  ),
);
