import type { Assertions } from "ava";
import type { Answer } from "./post-chat.ts";

/** Returns the error's message. */
export function assertError(
  t: Assertions,
  answer: Answer,
  { status, headers = {}, ...members }: ErrorRow,
): string {
  assertErrorHead(t, answer, { status, headers });
  return assertErrorBody(t, JSON.parse(answer.text), members);
}

export function assertErrorHead(
  t: Assertions,
  answer: Answer,
  { status, headers = {} }: Pick<ErrorRow, "status" | "headers">,
): void {
  t.is(answer.status, status, answer.text);
  t.is(answer.headers.get("content-type"), "application/json; charset=utf-8");
  t.regex(answer.headers.get("x-request-id") ?? "none", /^req_[0-9a-z]{26}$/);
  for (const [name, value] of Object.entries(headers)) t.is(answer.headers.get(name), value, name);
}

/** Returns the error's message. */
export function assertErrorBody(
  t: Assertions,
  body: unknown,
  members: Omit<ErrorRow, "status" | "headers">,
): string {
  const { message } = (body as { error: { message: string } }).error;
  t.is(typeof message, "string");
  t.regex(message, /\w.*\.$/s, "a message is a sentence");
  t.deepEqual(body, { error: { message, ...members } });
  return message;
}

export type ErrorRow = {
  status: number;
  type: string;
  param: string | null;
  code: string | null;
  /** Headers in addition to those of every error. */
  headers?: Record<string, string>;
};

export function clientError(status: number, code: string | null, param: string | null = null): ErrorRow {
  return { status, type: "invalid_request_error", param, code };
}

export function serverError(status: number, code: string): ErrorRow {
  return { status, type: "server_error", param: null, code };
}
