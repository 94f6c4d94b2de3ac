import { type Dialect, type ShownError, type DroppedMembers, listDropped } from "../dialect.ts";
import { formatAnswer } from "./format-answer.ts";
import { MessageStreamWriter } from "./message-stream-writer.ts";
import { nativeMessages } from "./native-messages.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { toChatRequest } from "./to-chat-request.ts";
import { findTypedTool } from "./tools.ts";
import { invalidType, invalidValue } from "../../wire/parameter-errors.ts";

/** Anthropic's Messages API, mainly for Claude Code. https://platform.claude.com/docs/en/api/messages/create */
export const messages: Dialect = {
  endpointName: "messages",
  readRequest: readMessagesRequest,
  toChatRequest,
  droppedIn: ({ body }) => listDropped(body, dropped),
  clientParams: {
    max_completion_tokens: "max_tokens",
    stop: "stop_sequences",
    reasoning_effort: "output_config.effort",
    response_format: "output_config.format",
    parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
    user: "metadata.user_id",
  },
  formatAnswer,
  createStreamWriter: (envelope, request) => new MessageStreamWriter(envelope, request),
  native: nativeMessages,
  formatError,
  // https://platform.claude.com/docs/en/build-with-claude/streaming#error-events
  formatErrorEvent: (error) => `event: error\ndata: ${JSON.stringify(formatError(error))}\n\n`,
};

const dropped: DroppedMembers = {
  members: ["mcp_servers", "container", "context_management", "fallbacks", "safeguards"],
  isToolDropped: ({ type }) => typeof type === "string" && type !== "custom" && findTypedTool(type) === null,
};

/** https://platform.claude.com/docs/en/api/errors */
function formatError({ status, message, details, requestId }: ShownError): object {
  const type = types.get(status) ?? (status >= 500 && status < 600 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message, ...(details && { details }) }, request_id: requestId };
}

const types = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

/**
 * Formats one page of models in Anthropic's format. Throws `invalid_type` or `invalid_value` for an invalid
 * query.
 * @param models all models, in the order of the list
 */
export function formatModelList(models: readonly ListedModel[], query: ModelListQuery): ModelList {
  const limit = readLimit(query["limit"]);
  const before = findIndexOf(models, query["before_id"], "before_id");
  const after = findIndexOf(models, query["after_id"], "after_id");
  if (before !== null && after !== null) {
    throw invalidValue("before_id", "must not be combined with 'after_id'");
  }
  const end = before ?? Math.min(models.length, (after ?? -1) + 1 + limit);
  const start = before === null ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const data = models.slice(start, end).map(formatModel);
  return {
    data,
    has_more: before === null ? end < models.length : start > 0,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

/** https://platform.claude.com/docs/en/api/models/retrieve */
export function formatModel({ slug, createdAt }: ListedModel): ModelInfo {
  return { type: "model", id: slug, display_name: slug, created_at: createdAt.toISOString() };
}

type ListedModel = { slug: string; createdAt: Date };

type ModelListQuery = Readonly<Record<string, unknown>>;

/** https://platform.claude.com/docs/en/api/models/list */
export type ModelList = {
  data: ModelInfo[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
};

type ModelInfo = { type: "model"; id: string; display_name: string; created_at: string };

function readLimit(value: unknown): number {
  if (value === undefined) return limitDefault;
  if (typeof value !== "string" || !/^\d{1,9}$/.test(value)) throw invalidType("limit", "an integer", value);
  const limit = Number(value);
  if (limit < 1 || limit > limitMax) throw invalidValue("limit", `must be between 1 and ${limitMax}`, limit);
  return limit;
}

function findIndexOf(models: readonly ListedModel[], id: unknown, param: string): number | null {
  if (id === undefined) return null;
  if (typeof id !== "string") throw invalidType(param, "a string", id);
  const index = models.findIndex(({ slug }) => slug === id);
  if (index === -1) throw invalidValue(param, "must be the ID of a model in the list", id);
  return index;
}

const limitDefault = 20;
const limitMax = 1_000;
