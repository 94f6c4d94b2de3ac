import { chatRequestSchema } from "../../dialects/chat/chat.ts";
import { embeddingsRequestSchema } from "../../dialects/embeddings/read-embeddings-request.ts";
import { countRequestSchema, messagesRequestSchema } from "../../dialects/messages/read-messages-request.ts";
import type { JsonSchema, RequestSchema } from "../../dialects/parse-body.ts";
import { responsesRequestSchema } from "../../dialects/responses/read-responses-request.ts";

const model = "The slug of a connected model, such as `demo/echo`.";
const stream = "Whether to stream the response as server-sent events.";
const tools = "The tools that the model may call.";

const messageOptions = {
  model,
  messages:
    "The conversation so far. Each message has a `role` and `content`: a string, or blocks such as text, images and tool results.",
  stream,
  temperature: "Sampling temperature. Higher values are more random.",
  top_p: "Nucleus sampling: cumulative probability cutoff.",
  top_k: "Samples only from the most likely tokens.",
  stop_sequences: "Sequences that end the response.",
  system: "Instructions that precede the conversation.",
  tools,
  tool_choice: "Whether the model may, must or must not call a tool.",
  thinking: "Configures reasoning and its token budget.",
  output_config: "Output options, such as `effort` and the `format` of the response.",
  metadata: "Metadata about the request, such as `user_id`.",
};

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const count = { type: "integer", minimum: 0 };
const slug = {
  type: "string",
  description: "The requested slug, not the provider's model name.",
};

const usage = object({
  prompt_tokens: { ...count, description: "Includes cached tokens." },
  completion_tokens: { ...count, description: "Includes reasoning tokens." },
  total_tokens: count,
});

const finishReason = { enum: ["stop", "length", "tool_calls", "content_filter", "function_call", null] };

const openAiModel = object({
  id: slug,
  object: { const: "model" },
  created: { type: "integer", description: "Unix time in seconds." },
  owned_by: { type: "string", description: "The provider." },
});

const anthropicModel = object({
  type: { const: "model" },
  id: slug,
  display_name: text,
  created_at: { type: "string", format: "date-time" },
});

/** The schemas of requests and answers by name. Answers may have further members, such as one upstream's own. */
export const schemas = {
  ChatCompletionRequest: describe(
    chatRequestSchema,
    "https://platform.openai.com/docs/api-reference/chat/create",
    {
      model,
      messages:
        "The conversation so far. `content` is a string, or parts such as text, images, audio and files.",
      stream,
      stream_options: "With `include_usage`, a stream ends with a chunk that has the token counts.",
      temperature: "Sampling temperature. Higher values are more random.",
      top_p: "Nucleus sampling: cumulative probability cutoff.",
      frequency_penalty: "Penalizes tokens by how often they have appeared.",
      presence_penalty: "Penalizes tokens that have appeared at all.",
      max_tokens: "The older name of `max_completion_tokens`.",
      max_completion_tokens: "Maximum output tokens, including reasoning.",
      n: "The number of choices.",
      tools,
    },
  ),
  EmbeddingsRequest: describe(
    embeddingsRequestSchema,
    "https://platform.openai.com/docs/api-reference/embeddings/create",
    {
      model,
      input: "One or more inputs: strings, or lists of token IDs.",
      encoding_format: "OpenAI's SDKs request `base64` by default.",
      dimensions: "The length of each vector.",
    },
  ),
  MessagesRequest: describe(
    messagesRequestSchema,
    "https://platform.claude.com/docs/en/api/messages/create",
    {
      ...messageOptions,
      max_tokens: "Maximum output tokens.",
    },
  ),
  CountTokensRequest: describe(
    countRequestSchema,
    "https://platform.claude.com/docs/en/api/messages/count_tokens",
    {
      ...messageOptions,
      max_tokens: "Accepted and ignored.",
    },
  ),
  ResponsesRequest: describe(
    responsesRequestSchema,
    "https://platform.openai.com/docs/api-reference/responses/create",
    {
      model,
      input:
        "A string, or items such as messages, calls and their results. Optional with `prompt`, `conversation` or `previous_response_id`.",
      stream,
      stream_options: "Stream options.",
      store:
        "Whether to keep the response for follow-ups. The default is true. OpenAI's own models store it at OpenAI.",
      background: "Supported by OpenAI only.",
      instructions: "Instructions that precede the input.",
      previous_response_id: "An earlier response, kept by the gateway or stored by OpenAI.",
      conversation: "A conversation that OpenAI has stored.",
      prompt: "A prompt that OpenAI has stored.",
      tools,
      tool_choice: "Whether the model may, must or must not call a tool.",
      parallel_tool_calls: "Whether the model may call several tools at once.",
      max_tool_calls: "Maximum calls of built-in tools.",
      reasoning: "The reasoning `effort`, and whether to include a `summary`.",
      text: "The `format` of the response and its `verbosity`.",
      temperature: "Sampling temperature. Higher values are more random.",
      top_p: "Nucleus sampling: cumulative probability cutoff.",
      top_logprobs: "The number of most likely tokens to return at each position.",
      max_output_tokens: "Maximum output tokens, including reasoning.",
      truncation: "How to handle input beyond the context window.",
      include: "Additional output, such as `reasoning.encrypted_content`.",
      metadata: "Key-value pairs that the response repeats.",
      user: "The older name of `safety_identifier`.",
      safety_identifier: "An opaque, stable identifier for your end user.",
      prompt_cache_key: "A key for requests with a common prefix.",
      service_tier: "The processing tier, which affects speed and price.",
    },
  ),
  ChatCompletion: object(
    {
      id: text,
      object: { const: "chat.completion" },
      created: { type: "integer", description: "Unix time in seconds." },
      model: slug,
      choices: list(
        object(
          {
            index: count,
            message: object(
              {
                role: { const: "assistant" },
                content: textOrNull,
                refusal: textOrNull,
                reasoning_content: {
                  ...textOrNull,
                  description: "The model's reasoning, where the provider sends it.",
                },
                tool_calls: { type: "array", items: { type: "object" } },
              },
              ["role"],
            ),
            finish_reason: finishReason,
          },
          ["index", "message", "finish_reason"],
        ),
      ),
      usage,
    },
    ["id", "object", "created", "model", "choices"],
  ),
  ChatCompletionChunk: object(
    {
      id: text,
      object: { const: "chat.completion.chunk" },
      created: { type: "integer" },
      model: slug,
      choices: list(
        object(
          {
            index: count,
            delta: { type: "object", description: "The new part of the message." },
            finish_reason: finishReason,
          },
          ["index", "delta"],
        ),
      ),
      usage: { anyOf: [usage, { type: "null" }] },
    },
    ["id", "object", "created", "model", "choices"],
  ),
  Embeddings: object({
    object: { const: "list" },
    data: list(
      object({
        object: { const: "embedding" },
        index: count,
        embedding: {
          anyOf: [
            { type: "array", items: { type: "number" } },
            { type: "string", contentEncoding: "base64" },
          ],
        },
      }),
    ),
    model: slug,
    usage: object({ prompt_tokens: count, total_tokens: count }),
  }),
  Response: object(
    {
      id: text,
      object: { const: "response" },
      created_at: { type: "number", description: "Unix time in seconds." },
      status: { enum: ["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"] },
      model: slug,
      output: list({ type: "object", required: ["type"], properties: { type: text } }),
      usage: object({ input_tokens: count, output_tokens: count, total_tokens: count }),
    },
    ["id", "object", "created_at", "status", "model", "output"],
  ),
  DeletedResponse: object({ id: text, object: { const: "response" }, deleted: { const: true } }),
  ItemList: object({
    object: { const: "list" },
    data: list({ type: "object", required: ["id", "type"], properties: { id: text, type: text } }),
    first_id: textOrNull,
    last_id: textOrNull,
    has_more: { type: "boolean" },
  }),
  Message: object({
    id: text,
    type: { const: "message" },
    role: { const: "assistant" },
    model: slug,
    content: list({ type: "object", required: ["type"], properties: { type: text } }),
    stop_reason: textOrNull,
    stop_sequence: textOrNull,
    usage: object({ input_tokens: count, output_tokens: count }),
  }),
  InputTokenCount: object({ object: { const: "response.input_tokens" }, input_tokens: count }),
  Compaction: object({
    id: text,
    object: { const: "response.compaction" },
    created_at: { type: "number", description: "Unix time in seconds." },
    output: list({ type: "object", properties: { type: text } }),
    usage: object({ input_tokens: count, output_tokens: count, total_tokens: count }),
  }),
  TokenCount: object({ input_tokens: count }),
  Model: { anyOf: [openAiModel, anthropicModel] },
  ModelList: {
    anyOf: [
      object({ object: { const: "list" }, data: list(openAiModel) }),
      object({
        data: list(anthropicModel),
        has_more: { type: "boolean" },
        first_id: textOrNull,
        last_id: textOrNull,
      }),
      object({ models: list({ type: "object" }) }),
    ],
  },
  Error: object({
    error: object({ message: text, type: text, param: textOrNull, code: textOrNull }),
  }),
  AnthropicError: object({
    type: { const: "error" },
    error: object({ type: text, message: text }),
    request_id: text,
  }),
  Health: object({ status: { enum: ["ok", "ready", "waiting", "stopping"] }, reason: text }, ["status"]),
} satisfies Record<string, JsonSchema>;

export type SchemaName = keyof typeof schemas;

function describe<Name extends string>(
  schema: RequestSchema<Name>,
  origin: string,
  descriptions: Record<Name, string>,
): JsonSchema {
  const properties = Object.entries<JsonSchema>(schema.properties).map(([name, property]) => [
    name,
    { ...property, description: descriptions[name as Name] },
  ]);
  return { ...schema, properties: Object.fromEntries(properties), externalDocs: { url: origin } };
}

function object(properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema {
  return { type: "object", required, properties };
}

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}
