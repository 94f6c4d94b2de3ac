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
      description: "Answers a conversation.",
      request: "ChatCompletionRequest",
      answer: "ChatCompletion",
      stream:
        "Each event's data is a `ChatCompletionChunk`; the last is `[DONE]`. A stream that breaks ends with an event that has an `error`, and without `[DONE]`.",
      example: { model: "demo/echo", messages },
    }),
  },
  "/v1/responses": {
    post: modelCall({
      dialect: responsesDialect,
      id: "createResponse",
      summary: "Responses",
      description:
        "Answers in the form that Codex speaks. Nothing is kept: what only OpenAI's own servers could do is refused elsewhere.",
      request: "ResponsesRequest",
      answer: "Response",
      stream:
        "Events as OpenAI names them, from `response.created` to `response.completed`, `response.incomplete` or `response.failed`.",
      example: { model: "demo/echo", input: "Hello, gateway!" },
    }),
  },
  "/v1/embeddings": {
    post: modelCall({
      dialect: chat,
      id: "createEmbeddings",
      summary: "Embeddings",
      description: "Turns texts into vectors.",
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
        "Answers a conversation. `anthropic-version` and `anthropic-beta` reach a provider that speaks this form itself.",
      request: "MessagesRequest",
      answer: "Message",
      stream: "Events as Anthropic names them, from `message_start` to `message_stop`, or `error`.",
      example: { model: "demo/echo", max_tokens: 100, messages },
    }),
  },
  "/v1/messages/count_tokens": {
    post: modelCall({
      dialect: messagesDialect,
      id: "countTokens",
      summary: "Count tokens",
      description:
        "How many tokens a request for a message has: as its provider counts them, or else about. Outside of limits and the usage history.",
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
      description:
        "The models that the key is connected to; all at once, or in pages for a request with `anthropic-version`.",
      answer: "ModelList",
      parameters: [
        anthropicVersion(),
        query("limit", { type: "integer", minimum: 1, maximum: 1000, default: 20 }, "How many a page has."),
        query("after_id", { type: "string" }, "The page after this model."),
        query("before_id", { type: "string" }, "The page before this model."),
      ],
      errors: ["invalid_type", "invalid_value"],
    }),
  },
  "/v1/models/{slug}": {
    get: modelLookup({
      id: "getModel",
      summary: "Get a model",
      description: "One model. The slash of its slug may be encoded or not.",
      answer: "Model",
      parameters: [
        {
          name: "slug",
          in: "path",
          required: true,
          schema: { type: "string" },
          description: "Such as `demo/echo`.",
          example: "demo/echo",
        },
        anthropicVersion(),
      ],
      errors: ["model_not_found"],
    }),
  },
  "/healthz": { get: health("isAlive", "Is it up?", "The process runs.", false) },
  "/readyz": {
    get: health("isReady", "Is it ready?", "The process can serve. It does not ask the database.", true),
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
      ...(canFail && { 503: { description: "No, for the reason given.", content } }),
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
  return { name, in: "query", schema, description: `${description} For Anthropic's form only.` };
}

function anthropicVersion(): object {
  return {
    name: "anthropic-version",
    in: "header",
    schema: { type: "string" },
    description: "With it, models and errors have Anthropic's form.",
  };
}
