/** A message as the gateway writes it. https://platform.claude.com/docs/en/api/messages/create */
export type AnthropicMessage = { role: "user" | "assistant"; content: ContentBlock[] };

export type ContentBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock;

/** The gateway forwards cache markers unchanged. */
export type Cacheable = { cache_control?: Record<string, unknown> | undefined };

export type TextBlock = Cacheable & { type: "text"; text: string };

export type ImageBlock = Cacheable & { type: "image"; source: UrlSource | Base64Source };

export type DocumentBlock = Cacheable & {
  type: "document";
  source: UrlSource | Base64Source | { type: "text"; media_type: "text/plain"; data: string };
  title?: string | undefined;
};

type UrlSource = { type: "url"; url: string };
export type Base64Source = { type: "base64"; media_type: string; data: string };

export type ThinkingBlock = { type: "thinking"; thinking: string; signature: string };

/** Reasoning that only Anthropic can read. */
export type RedactedThinkingBlock = { type: "redacted_thinking"; data: string };

export type ToolUseBlock = Cacheable & {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
};

export type ToolResultBlock = Cacheable & {
  type: "tool_result";
  tool_use_id: string;
  content?: ContentBlock[] | undefined;
};
