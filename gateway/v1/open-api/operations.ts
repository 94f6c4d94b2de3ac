import { chat } from "../../dialects/chat/chat.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { messages as messagesDialect } from "../../dialects/messages/messages.ts";
import { responses as responsesDialect } from "../../dialects/responses/responses.ts";
import { bodyErrors, errorResponses, keyErrors, modelErrors } from "./error-responses.ts";

const messages = [{ role: "user", content: "Hello, gateway!" }];

/** Every public endpoint. A test compares them with the router. */
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
        "Create a response in OpenAI's Responses format, which Codex uses. The gateway does not store responses. Features of OpenAI's servers work only with OpenAI.",
      request: "ResponsesRequest",
      answer: "Response",
      stream:
        "OpenAI's events, from `response.created` to `response.completed`, `response.incomplete` or `response.failed`.",
      example: { model: "demo/echo", input: "Hello, gateway!" },
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
    get: modelLookup({
      id: "listModels",
      summary: "List models",
      description: "List the key's models: all at once, or in pages for requests with `anthropic-version`.",
      answer: "ModelList",
      parameters: [
        anthropicVersion(),
        query("limit", { type: "integer", minimum: 1, maximum: 1000, default: 20 }, "The page size."),
        query("after_id", { type: "string" }, "Return the page after this model."),
        query("before_id", { type: "string" }, "Return the page before this model."),
      ],
      errors: ["invalid_type", "invalid_value"],
    }),
  },
  "/v1/models/{slug}": {
    get: modelLookup({
      id: "getModel",
      summary: "Get a model",
      description: "Get one model. The slash of its slug may be encoded.",
      answer: "Model",
      parameters: [
        {
          name: "slug",
          in: "path",
          required: true,
          schema: { type: "string" },
          description: "For example `demo/echo`.",
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
  /** Null for chat completions and similar endpoints. */
  dialect: Dialect;
  id: string;
  summary: string;
  description: string;
  request: string;
  answer: string;
  /** The events of a stream, if the endpoint has one. */
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

type ModelLookup = {
  id: string;
  summary: string;
  description: string;
  answer: string;
  parameters: object[];
  errors: ErrorCodes;
};

function modelLookup({ id, summary, description, answer, parameters, errors }: ModelLookup): object {
  return {
    operationId: id,
    tags: ["Models"],
    summary,
    description,
    parameters,
    responses: { 200: success(answer), ...errorResponses([...keyErrors, ...errors], chat) },
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
  return { name, in: "query", schema, description: `${description} Anthropic's format only.` };
}

function anthropicVersion(): object {
  return {
    name: "anthropic-version",
    in: "header",
    schema: { type: "string" },
    description: "If present, models and errors use Anthropic's format.",
  };
}
