import type { JsonSchema } from "../../dialects/parse-body.ts";

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

/** Answers may have further members, such as members that only one upstream sends. */
export const answerSchemas: Record<string, JsonSchema> = {
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
};

function object(properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema {
  return { type: "object", required, properties };
}

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}
