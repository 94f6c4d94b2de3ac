import { conversation } from "../completions/conversation.ts";
import { messageTokens, responseTokens, type TokenCounting } from "../completions/count-tokens.ts";
import { embeddings } from "../completions/embeddings.ts";
import type { Operation } from "../completions/operation.ts";
import { chat } from "../dialects/chat/chat.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { messages } from "../dialects/messages/messages.ts";
import { compaction } from "../dialects/responses/compaction.ts";
import { responses } from "../dialects/responses/responses.ts";
import { countTokensEndpoint } from "./count-tokens.ts";
import { modelEndpoint, type ModelEndpointOptions, type RequestHandler } from "./endpoint.ts";
import { keptResponseEndpoints } from "./kept-responses.ts";
import { modelDetail, modelList } from "./models.ts";
import type { ShownErrorCode } from "./open-api/error-responses.ts";
import type { SchemaName } from "./open-api/schemas.ts";

export type V1Endpoint = {
  method: "get" | "post" | "delete";
  /** With parameters as the router writes them: `:id`, or `*slug` with slashes. */
  path: string;
  /** The format of errors, also for other methods. */
  dialect: Dialect;
  createHandler(options: ModelEndpointOptions): RequestHandler;
  openApi: Description;
};

/** An endpoint in the API description. */
type Description = {
  id: string;
  tag: "OpenAI" | "Anthropic" | "Models";
  summary: string;
  description: string;
  request?: { schema: SchemaName; example: object; contentType?: string };
  parameters?: object[];
  answer: SchemaName;
  /** Describes the events of a stream. Undefined if the endpoint has no streams. */
  stream?: string;
  /** Besides the errors of keys and bodies. */
  errors: readonly ShownErrorCode[];
};

const modelErrors: readonly ShownErrorCode[] = [
  "unsupported_parameter",
  "model_not_found",
  "insufficient_quota",
  "upstream_auth_failed",
  "upstream_error",
  "upstream_timeout",
];

const hello = [{ role: "user", content: "Hello, gateway!" }];
const onlyAnthropic = "Anthropic's format only.";
const responseId = {
  name: "id",
  in: "path",
  required: true,
  schema: { type: "string" },
  description: "The ID of a response: `resp_…`.",
};
const anthropicVersion = {
  name: "anthropic-version",
  in: "header",
  schema: { type: "string" },
  description: "Selects Anthropic's format for models and errors.",
};

/** The endpoints of `/v1` for the router, in its order, the correction of base URLs and the API description. */
export const endpoints: readonly V1Endpoint[] = [
  modelCall(conversation(chat), chat, {
    id: "createChatCompletion",
    summary: "Chat completions",
    description: "Create a chat completion.",
    request: { schema: "ChatCompletionRequest", example: { model: "demo/echo", messages: hello } },
    answer: "ChatCompletion",
    stream:
      "Each event holds a `ChatCompletionChunk`, and the last is `[DONE]`. A broken stream ends with an `error` event, without `[DONE]`.",
  }),
  modelCall(conversation(responses), responses, {
    id: "createResponse",
    summary: "Responses",
    description:
      "Create a response in OpenAI's Responses format, which Codex uses. `RESPONSES_STATE` selects where translated responses are kept for follow-ups. Features of OpenAI's servers work only with OpenAI. `GET` with `Upgrade: websocket` opens a WebSocket in OpenAI's form.",
    request: { schema: "ResponsesRequest", example: { model: "demo/echo", input: "Hello, gateway!" } },
    answer: "Response",
    stream:
      "OpenAI's events, from `response.created` to `response.completed`, `response.incomplete` or `response.failed`.",
    errors: [...modelErrors, "previous_response_not_found", "item_not_found"],
  }),
  tokenCount(responseTokens, {
    id: "countInputTokens",
    summary: "Count input tokens",
    description:
      "Count the input tokens of a response request. The gateway estimates them if the provider cannot count them. The call does not affect limits or usage.",
    request: { schema: "ResponsesRequest", example: { model: "demo/echo", input: "Hello, gateway!" } },
    answer: "InputTokenCount",
  }),
  modelCall(conversation(compaction), responses, {
    id: "compactResponse",
    summary: "Compact a conversation",
    description:
      "Replace a conversation by its user messages and a summary. Where the provider cannot compact, the model writes the summary.",
    request: { schema: "ResponsesRequest", example: { model: "demo/echo", input: "Hello, gateway!" } },
    answer: "Compaction",
  }),
  // This route and the next follow the others below `/v1/responses`, because they match any ID.
  {
    method: "get",
    path: "/v1/responses/:id",
    dialect: responses,
    createHandler: (options) => keptResponseEndpoints(options).get,
    openApi: {
      id: "getResponse",
      tag: "OpenAI",
      summary: "Get a response",
      description: "Get a kept response. Responses that OpenAI stores are not found.",
      parameters: [responseId],
      answer: "Response",
      errors: ["response_not_found", "unsupported_parameter"],
    },
  },
  {
    method: "delete",
    path: "/v1/responses/:id",
    dialect: responses,
    createHandler: (options) => keptResponseEndpoints(options).delete,
    openApi: {
      id: "deleteResponse",
      tag: "OpenAI",
      summary: "Delete a response",
      description: "Delete a kept response.",
      parameters: [responseId],
      answer: "DeletedResponse",
      errors: ["response_not_found"],
    },
  },
  {
    method: "get",
    path: "/v1/responses/:id/input_items",
    dialect: responses,
    createHandler: (options) => keptResponseEndpoints(options).inputItems,
    openApi: {
      id: "listInputItems",
      tag: "OpenAI",
      summary: "List input items",
      description: "List the input of a kept response, earlier turns included.",
      parameters: [
        responseId,
        query("limit", { type: "integer", minimum: 1, maximum: 100, default: 20 }, "The page size."),
        query("order", { enum: ["asc", "desc"], default: "desc" }, "The order of the items."),
        query("after", { type: "string" }, "Return the page after this item."),
      ],
      answer: "ItemList",
      errors: ["response_not_found", "invalid_value"],
    },
  },
  modelCall(embeddings, chat, {
    id: "createEmbeddings",
    summary: "Embeddings",
    description: "Create embeddings.",
    request: {
      schema: "EmbeddingsRequest",
      example: { model: "openai/text-embedding-3-small", input: "Hello, gateway!" },
    },
    answer: "Embeddings",
  }),
  modelCall(conversation(messages), messages, {
    id: "createMessage",
    summary: "Messages",
    description:
      "Create a message. Providers with this format receive `anthropic-version` and `anthropic-beta`.",
    request: {
      schema: "MessagesRequest",
      example: { model: "demo/echo", max_tokens: 100, messages: hello },
    },
    answer: "Message",
    stream: "Anthropic's events, from `message_start` to `message_stop` or `error`.",
  }),
  tokenCount(messageTokens, {
    id: "countTokens",
    summary: "Count tokens",
    description:
      "Count the tokens of a message request. The gateway estimates them if the provider cannot count them. The call does not affect limits or usage.",
    request: { schema: "CountTokensRequest", example: { model: "demo/echo", messages: hello } },
    answer: "TokenCount",
  }),
  {
    method: "get",
    path: "/v1/models",
    dialect: chat,
    createHandler: modelList,
    openApi: {
      id: "listModels",
      tag: "Models",
      summary: "List models",
      description: "List the key's models: all at once, or in pages for requests with `anthropic-version`.",
      parameters: [
        anthropicVersion,
        // Requests in OpenAI's format may have any limit, so the schema has no bounds.
        query("limit", {}, `The page size, from 1 to 1000. The default is 20. ${onlyAnthropic}`),
        query("client_version", { type: "string" }, "Selects Codex's catalog, without `anthropic-version`."),
        query("after_id", { type: "string" }, `Return the page after this model. ${onlyAnthropic}`),
        query("before_id", { type: "string" }, `Return the page before this model. ${onlyAnthropic}`),
      ],
      answer: "ModelList",
      errors: ["invalid_type", "invalid_value"],
    },
  },
  {
    method: "get",
    path: "/v1/models/*slug",
    dialect: chat,
    createHandler: modelDetail,
    openApi: {
      id: "getModel",
      tag: "Models",
      summary: "Get a model",
      description: "Get one model. The slash of its slug may be encoded.",
      parameters: [
        {
          name: "slug",
          in: "path",
          required: true,
          schema: { type: "string" },
          description: "The slug, for example `demo/echo`.",
          example: "demo/echo",
        },
        anthropicVersion,
      ],
      answer: "Model",
      errors: ["model_not_found"],
    },
  },
];

type CallDescription = Omit<Description, "tag" | "errors"> & Partial<Pick<Description, "errors">>;

function modelCall(
  operation: Operation,
  dialect: Dialect,
  { errors = modelErrors, ...openApi }: CallDescription,
): V1Endpoint {
  return {
    method: "post",
    path: `/v1/${operation.endpointName}`,
    dialect,
    createHandler: (options) => modelEndpoint(options, operation, dialect),
    openApi: { ...openApi, tag: tagOf(dialect), errors },
  };
}

function tokenCount(counting: TokenCounting, openApi: CallDescription): V1Endpoint {
  const { endpointName, dialect } = counting;
  return {
    method: "post",
    path: `/v1/${endpointName}`,
    dialect,
    createHandler: (options) => countTokensEndpoint(options, counting),
    openApi: { ...openApi, tag: tagOf(dialect), errors: ["model_not_found"] },
  };
}

function tagOf(dialect: Dialect): "Anthropic" | "OpenAI" {
  return dialect === messages ? "Anthropic" : "OpenAI";
}

function query(name: string, schema: object, description: string): object {
  return { name, in: "query", schema, description };
}

/** Whether a URL is an endpoint's without `/v1`, a common error in clients' base URLs. */
export function lacksVersion(url: string): boolean {
  return withoutVersion.test(url);
}

const names = endpoints.map(({ path }) => path.slice("/v1/".length));
const outermost = names.filter((name) => !names.some((other) => name.startsWith(`${other}/`)));
const withoutVersion = new RegExp(`^/(?:${outermost.join("|")})(?=[/?]|$)`);
