import type { Assertions } from "ava";
import { assertError, assertErrorHead, type ErrorRow } from "./assert-error.ts";
import { type Answer, chatBody } from "./post-chat.ts";

/** A client dialect other than chat completions, for tests that run once per dialect. */
export type ClientDialect = {
  name: "messages" | "responses";
  /** A provider that speaks the dialect natively, without translation. */
  provider: { kind: "anthropic" | "openai-compatible"; preset?: "anthropic" | "openai" };
  /** Returns the body of a short valid request, with the members of `more`. */
  body(model: string, prompt?: string, more?: object): object;
  /** The member that contains the conversation. */
  conversation: "messages" | "input";
  /** A complete native response that names `model`. */
  answer(model: string): string;
  events(model: string): string[];
  /** The name of the last event of a successful stream. */
  endEvent: string;
  /** The body of an upstream's error response. */
  refusal(message: string): object;
  errorEvent(message: string): string;
  /** Checks an error response. Returns the error's message. */
  assertError(t: Assertions, answer: Answer, row: ErrorRow): string;
  /** Fails unless the stream ends with an error. Returns the error's message. */
  assertErrorEnd(t: Assertions, stream: string): string;
};

export const messages: ClientDialect = {
  name: "messages",
  provider: { kind: "anthropic", preset: "anthropic" },
  body: (model, prompt = "Hello", more = {}) => ({
    model,
    max_tokens: 100,
    messages: [{ role: "user", content: prompt }],
    ...more,
  }),
  conversation: "messages",
  answer: (model) =>
    `{"id":"msg_01", "type":"message","role":"assistant","model" : ${JSON.stringify(model)},"content":[{"type":"thinking","thinking":"Hm.","signature":"EqQBCg=="},{"type":"text","text":"H\\u00ef! 👋"}],\n"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":2,"output_tokens":2},"future":12345678901234567890.10}`,
  events: (model) =>
    [
      `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_01","model":${JSON.stringify(model)},"content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":2,"output_tokens":1}}}`,
      `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
      `event: ping\ndata: {"type": "ping"}`,
      `event: news\ndata: {"type":"news","count":12345678901234567890}`,
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"H\\u00ef! 👋"} }`,
      `event: content_block_stop\ndata: {"type":"content_block_stop","index":0}`,
      `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`,
      `event: message_stop\ndata: {"type":"message_stop"}`,
    ].map((event) => `${event}\n\n`),
  endEvent: "message_stop",
  refusal: (message) => ({
    type: "error",
    error: { type: "invalid_request_error", message },
    request_id: "req_upstream",
  }),
  errorEvent: (message) =>
    `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", message } })}\n\n`,

  /** Anthropic documents this format: https://platform.claude.com/docs/en/api/errors */
  assertError(t, answer, { status, headers = {} }) {
    assertErrorHead(t, answer, { status, headers });
    const body = JSON.parse(answer.text) as { error: { message: string } };
    const { message } = body.error;
    t.regex(message, /\w.*\.$/s, "a message is a sentence");
    const type = anthropicTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
    const requestId = answer.headers.get("x-request-id");
    t.deepEqual(body as object, { type: "error", error: { type, message }, request_id: requestId });
    return message;
  },

  assertErrorEnd(t, stream) {
    const [, data = "{}"] = /\nevent: error\ndata: (.*)\n\n$/.exec(stream) ?? [];
    const event = JSON.parse(data) as { type: string; error: { type: string; message: string } };
    t.is(event.type, "error", stream);
    t.regex(event.error.type, /_error$/);
    return event.error.message;
  },
};

const anthropicTypes: Record<number, string> = {
  401: "authentication_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

export const responses: ClientDialect = {
  name: "responses",
  provider: { kind: "openai-compatible", preset: "openai" },
  body: (model, prompt = "Hello", more = {}) => ({ model, input: prompt, store: false, ...more }),
  conversation: "input",
  answer: (model) =>
    `{"id":"resp_01", "object":"response","status":"completed","model" : ${JSON.stringify(model)},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"H\\u00ef! 👋"}]}],\n"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":3},"output_tokens":2,"total_tokens":12},"future":12345678901234567890.10}`,
  events(model) {
    const begun = `"id":"resp_01","object":"response","model":${JSON.stringify(model)}`;
    const usage = `"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":3},"output_tokens":2,"total_tokens":12}`;
    return [
      `event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{${begun},"status":"in_progress","output":[],"usage":null}}`,
      `event: response.in_progress\ndata: {"type":"response.in_progress","sequence_number":1,"response":{${begun},"status":"in_progress","output":[]}}`,
      `event: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_01","type":"message","role":"assistant","content":[]}}`,
      `event: news\ndata: {"type":"news","count":12345678901234567890}`,
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_01","output_index":0,"content_index":0,"delta":"H\\u00ef! 👋" }`,
      `event: response.completed\ndata: {"type":"response.completed","sequence_number":4,"response":{${begun},"status":"completed","output":[{"id":"msg_01"}],${usage}}}`,
    ].map((event) => `${event}\n\n`);
  },
  endEvent: "response.completed",
  refusal: (message) => ({
    error: { message, type: "invalid_request_error", param: "input", code: "context_length_exceeded" },
  }),
  errorEvent: (message) =>
    `event: error\ndata: ${JSON.stringify({ type: "error", sequence_number: 9, code: "server_error", message, param: null })}\n\n`,

  /** For an unknown model, the gateway returns 400 in this dialect, because Codex retries a 404 six times. */
  assertError: (t, answer, row) =>
    assertError(t, answer, row.code === "model_not_found" ? { ...row, status: 400 } : row),

  assertErrorEnd(t, stream) {
    const [, first = "{}", last = "{}"] =
      /\nevent: error\ndata: (.*)\n\nevent: response.failed\ndata: (.*)\n\n$/.exec(stream) ?? [];
    const { type, message } = JSON.parse(first) as { type: string; message: string };
    t.is(type, "error", stream);
    const failed = JSON.parse(last) as { response: { status: string; error: { message: string } } };
    t.is(failed.response.status, "failed");
    t.is(failed.response.error.message, message);
    return message;
  },
};

export const clientDialects: ClientDialect[] = [messages, responses];

/** The part of a dialect that tests of errors use. */
export type ErrorDialect = Pick<
  ClientDialect,
  "provider" | "body" | "conversation" | "refusal" | "assertError"
> & { name: ClientDialect["name"] | "chat/completions" };

export const chat: ErrorDialect = {
  name: "chat/completions",
  provider: { kind: "openai-compatible" },
  body: chatBody,
  conversation: "messages",
  refusal: (message) => ({ error: { message, type: "tokens", param: "messages", code: "too_long" } }),
  assertError,
};

export const errorDialects: ErrorDialect[] = [chat, ...clientDialects];
