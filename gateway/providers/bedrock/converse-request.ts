/** What the gateway writes. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export type ConverseRequest = {
  messages: ConverseMessage[];
  system?: SystemBlock[] | undefined;
  inferenceConfig?: InferenceConfig | undefined;
  toolConfig?: ToolConfig | undefined;
  /** The model's own parameters, which Converse passes on. */
  additionalModelRequestFields?: Record<string, unknown> | undefined;
  outputConfig?: OutputConfig | undefined;
};

export type ConverseMessage = { role: "user" | "assistant"; content: ContentBlock[] };

export type SystemBlock = TextBlock | CachePointBlock;

export type ContentBlock =
  | TextBlock
  | MediaBlock
  | CachePointBlock
  | ReasoningBlock
  | { toolUse: { toolUseId: string; name: string; input: Record<string, unknown> } }
  | { toolResult: { toolUseId: string; content: ContentBlock[] } };

export type TextBlock = { text: string };

/** The bytes are base64. */
export type MediaBlock =
  | { image: { format: string; source: { bytes: string } } }
  | { video: { format: string; source: { bytes: string } } }
  | { audio: { format: string; source: { bytes: string } } }
  | { document: { format: string; name: string; source: { bytes: string } } };

export type CachePointBlock = { cachePoint: { type: "default"; ttl?: string | undefined } };

export type ReasoningBlock = {
  reasoningContent: { reasoningText: { text: string; signature: string } } | { redactedContent: string };
};

type InferenceConfig = {
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  topP?: number | undefined;
  stopSequences?: string[] | undefined;
};

export type ToolConfig = {
  tools: ({ toolSpec: ToolSpec } | CachePointBlock)[];
  toolChoice?: { any: object } | { tool: { name: string } } | undefined;
};

export type ToolSpec = {
  name: string;
  description?: string | undefined;
  inputSchema: { json: Record<string, unknown> };
};

export type OutputConfig = {
  textFormat: {
    type: "json_schema";
    structure: {
      jsonSchema: { schema: string; name?: string | undefined; description?: string | undefined };
    };
  };
};
