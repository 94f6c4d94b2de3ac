import { chat } from "../../dialects/chat/chat.ts";
import { messages as messagesDialect } from "../../dialects/messages/messages.ts";
import { responses as responsesDialect } from "../../dialects/responses/responses.ts";
import { modelErrors, bodyErrors, errorResponses, keyErrors } from "./error-responses.ts";
import type { Dialect } from "../../dialects/dialect.ts";

const only = "Anthropic's format only.";
const responseId = {
  name: "id",
  in: "path",
  required: true,
  schema: { type: "string" },
  description: "The ID of a response: `resp_…`.",
};
const messages = [{ role: "user", content: "Hello, gateway!" }];

/** The documented endpoints. A test compares them with the router. */
export const operations: Record<string, Record<string, object>> = {
  "/v1/chat/completions": {
    post: modelCall({
      dialect: chat,
      id: "createChatCompletion",
      summary: "Chat completions",
      description: "Create a chat completion.",
      request: "ChatCompletionRequest",
      answer: "ChatCompletion",
      stream:
        "Each event holds a `ChatCompletionChunk`, and the last is `[DONE]`. A broken stream ends with an `error` event, without `[DONE]`.",
      example: { model: "demo/echo", messages },
    }),
  },
  "/v1/responses": {
    post: modelCall({
      dialect: responsesDialect,
      id: "createResponse",
      summary: "Responses",
      description:
        "Create a response in OpenAI's Responses format, which Codex uses. `RESPONSES_STATE` selects where translated responses are kept for follow-ups. Features of OpenAI's servers work only with OpenAI. `GET` with `Upgrade: websocket` opens a WebSocket in OpenAI's form.",
      request: "ResponsesRequest",
      answer: "Response",
      stream:
        "OpenAI's events, from `response.created` to `response.completed`, `response.incomplete` or `response.failed`.",
      example: { model: "demo/echo", input: "Hello, gateway!" },
      errors: [...modelErrors, "previous_response_not_found", "item_not_found"],
    }),
  },
  "/v1/responses/input_tokens": {
    post: modelCall({
      dialect: responsesDialect,
      id: "countInputTokens",
      summary: "Count input tokens",
      description:
        "Count the input tokens of a response request. The gateway estimates them if the provider cannot count them. The call does not affect limits or usage.",
      request: "ResponsesRequest",
      answer: "InputTokenCount",
      example: { model: "demo/echo", input: "Hello, gateway!" },
      errors: ["model_not_found"],
    }),
  },
  "/v1/responses/compact": {
    post: modelCall({
      dialect: responsesDialect,
      id: "compactResponse",
      summary: "Compact a conversation",
      description:
        "Replace a conversation by its user messages and a summary. Where the provider cannot compact, the model writes the summary.",
      request: "ResponsesRequest",
      answer: "Compaction",
      example: { model: "demo/echo", input: "Hello, gateway!" },
    }),
  },
  "/v1/responses/{id}": {
    get: lookup({
      id: "getResponse",
      tag: "OpenAI",
      summary: "Get a response",
      description: "Get a kept response. Responses that OpenAI stores are not found.",
      answer: "Response",
      parameters: [responseId],
      errors: ["response_not_found", "unsupported_parameter"],
    }),
    delete: lookup({
      id: "deleteResponse",
      tag: "OpenAI",
      summary: "Delete a response",
      description: "Delete a kept response.",
      answer: "DeletedResponse",
      parameters: [responseId],
      errors: ["response_not_found"],
    }),
  },
  "/v1/responses/{id}/input_items": {
    get: lookup({
      id: "listInputItems",
      tag: "OpenAI",
      summary: "List input items",
      description: "List the input of a kept response, earlier turns included.",
      answer: "ItemList",
      parameters: [
        responseId,
        query("limit", { type: "integer", minimum: 1, maximum: 100, default: 20 }, "The page size."),
        query("order", { enum: ["asc", "desc"], default: "desc" }, "The order of the items."),
        query("after", { type: "string" }, "Return the page after this item."),
      ],
      errors: ["response_not_found", "invalid_value"],
    }),
  },
  "/v1/embeddings": {
    post: modelCall({
      dialect: chat,
      id: "createEmbeddings",
      summary: "Embeddings",
      description: "Create embeddings.",
      request: "EmbeddingsRequest",
      answer: "Embeddings",
      example: { model: "openai/text-embedding-3-small", input: "Hello, gateway!" },
    }),
  },
  "/v1/messages": {
    post: modelCall({
      dialect: messagesDialect,
      id: "createMessage",
      summary: "Messages",
      description:
        "Create a message. Providers with this format receive `anthropic-version` and `anthropic-beta`.",
      request: "MessagesRequest",
      answer: "Message",
      stream: "Anthropic's events, from `message_start` to `message_stop` or `error`.",
      example: { model: "demo/echo", max_tokens: 100, messages },
    }),
  },
  "/v1/messages/count_tokens": {
    post: modelCall({
      dialect: messagesDialect,
      id: "countTokens",
      summary: "Count tokens",
      description:
        "Count the tokens of a message request. The gateway estimates them if the provider cannot count them. The call does not affect limits or usage.",
      request: "CountTokensRequest",
      answer: "TokenCount",
      example: { model: "demo/echo", messages },
      errors: ["model_not_found"],
    }),
  },
  "/v1/models": {
    get: lookup({
      id: "listModels",
      tag: "Models",
      summary: "List models",
      description: "List the key's models: all at once, or in pages for requests with `anthropic-version`.",
      answer: "ModelList",
      parameters: [
        anthropicVersion(),
        // Requests in OpenAI's format may have any limit, so the schema has no bounds.
        query("limit", {}, `The page size, from 1 to 1000. The default is 20. ${only}`),
        query("client_version", { type: "string" }, "Selects Codex's catalog, without `anthropic-version`."),
        query("after_id", { type: "string" }, `Return the page after this model. ${only}`),
        query("before_id", { type: "string" }, `Return the page before this model. ${only}`),
      ],
      errors: ["invalid_type", "invalid_value"],
    }),
  },
  "/v1/models/{slug}": {
    get: lookup({
      id: "getModel",
      tag: "Models",
      summary: "Get a model",
      description: "Get one model. The slash of its slug may be encoded.",
      answer: "Model",
      parameters: [
        {
          name: "slug",
          in: "path",
          required: true,
          schema: { type: "string" },
          description: "The slug, for example `demo/echo`.",
          example: "demo/echo",
        },
        anthropicVersion(),
      ],
      errors: ["model_not_found"],
    }),
  },
  "/healthz": { get: health("isAlive", "Liveness", "The process is running.", false) },
  "/readyz": {
    get: health("isReady", "Readiness", "The process can serve requests. Does not query the database.", true),
  },
};

type ErrorCodes = Parameters<typeof errorResponses>[0];

type ModelCall = {
  dialect: Dialect;
  id: string;
  summary: string;
  description: string;
  request: string;
  answer: string;
  /** Describes the events of a stream. Undefined if the endpoint has no streams. */
  stream?: string;
  example: object;
  errors?: ErrorCodes;
};

function modelCall(call: ModelCall): object {
  const events = { schema: { type: "string", description: call.stream } };
  return {
    operationId: call.id,
    tags: [call.dialect === messagesDialect ? "Anthropic" : "OpenAI"],
    summary: call.summary,
    description: call.description,
    requestBody: {
      required: true,
      content: { "application/json": { schema: schemaOf(call.request), example: call.example } },
    },
    responses: {
      200: success(call.answer, call.stream === undefined ? {} : { "text/event-stream": events }),
      ...errorResponses([...keyErrors, ...bodyErrors, ...(call.errors ?? modelErrors)], call.dialect),
    },
  };
}

type Lookup = {
  id: string;
  tag: "Models" | "OpenAI";
  summary: string;
  description: string;
  answer: string;
  parameters: object[];
  errors: ErrorCodes;
};

function lookup({ id, tag, summary, description, answer, parameters, errors }: Lookup): object {
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters,
    responses: {
      200: success(answer),
      ...errorResponses([...keyErrors, ...errors], chat, tag === "Models" ? messagesDialect : undefined),
    },
  };
}

function health(id: string, summary: string, description: string, canFail: boolean): object {
  const content = { "application/json": { schema: schemaOf("Health") } };
  return {
    operationId: id,
    tags: ["Health"],
    summary,
    description,
    security: [],
    responses: {
      200: { description: "Yes.", content },
      ...(canFail && { 503: { description: "Not ready, with the reason.", content } }),
    },
  };
}

function success(answer: string, more: object = {}): object {
  return {
    description: "The answer.",
    headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
    content: { "application/json": { schema: schemaOf(answer) }, ...more },
  };
}

function schemaOf(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

function query(name: string, schema: object, description: string): object {
  return { name, in: "query", schema, description };
}

function anthropicVersion(): object {
  return {
    name: "anthropic-version",
    in: "header",
    schema: { type: "string" },
    description: "Selects Anthropic's format for models and errors.",
  };
}
