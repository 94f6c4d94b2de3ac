/**
 * The members of a Messages API request that the gateway writes.
 * https://platform.claude.com/docs/en/api/messages/create
 */
export type MessagesRequest = {
  model: string;
  max_tokens: number;
  system?: TextBlock[] | undefined;
  messages: AnthropicMessage[];
  tools?: AnthropicTool[] | undefined;
  tool_choice?: ToolChoice | undefined;
  thinking?: Thinking | undefined;
  output_config?: { effort?: string | undefined; format?: OutputFormat | undefined } | undefined;
  temperature?: number | undefined;
  top_p?: number | undefined;
  top_k?: number | undefined;
  stop_sequences?: string[] | undefined;
  cache_control?: CacheControl | undefined;
  stream?: true | undefined;
};

export type AnthropicMessage = { role: "user" | "assistant"; content: ContentBlock[] };

export type ContentBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock;

export type TextBlock = { type: "text"; text: string; cache_control?: CacheControl | undefined };

export type ImageBlock = {
  type: "image";
  source: UrlSource | Base64Source;
  cache_control?: CacheControl | undefined;
};

export type DocumentBlock = {
  type: "document";
  source: UrlSource | Base64Source | { type: "text"; media_type: "text/plain"; data: string };
  title?: string | undefined;
  cache_control?: CacheControl | undefined;
};

export type UrlSource = { type: "url"; url: string };
export type Base64Source = { type: "base64"; media_type: string; data: string };

export type ThinkingBlock = { type: "thinking"; thinking: string; signature: string };

/** Reasoning that only Anthropic can read. */
export type RedactedThinkingBlock = { type: "redacted_thinking"; data: string };

export type ToolUseBlock = {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
  cache_control?: CacheControl | undefined;
};

export type ToolResultBlock = {
  type: "tool_result";
  tool_use_id: string;
  content?: ContentBlock[] | undefined;
  cache_control?: CacheControl | undefined;
};

export type AnthropicTool = {
  name: string;
  description?: string | undefined;
  input_schema: Record<string, unknown>;
  strict?: true | undefined;
  cache_control?: CacheControl | undefined;
};

export type ToolChoice =
  | { type: "none" }
  | { type: "auto" | "any"; disable_parallel_tool_use?: true | undefined }
  | { type: "tool"; name: string; disable_parallel_tool_use?: true | undefined };

/**
 * The type is `enabled` with a budget, `adaptive`, `between_tools` or `disabled`. Clients may send other
 * types.
 */
export type Thinking = { type?: unknown; [field: string]: unknown };

export type OutputFormat = { type: "json_schema"; schema: unknown };

/**
 * The gateway forwards cache markers unchanged. https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export type CacheControl = Record<string, unknown>;
