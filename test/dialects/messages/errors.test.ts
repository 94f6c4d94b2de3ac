import test from "ava";
import { messages } from "../../../gateway/dialects/messages/messages.ts";

const shown = {
  message: "No.",
  type: "server_error",
  param: null,
  code: "some_code",
  requestId: "req_1",
  details: null,
};

for (const [status, type] of [
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [405, "invalid_request_error"],
  [408, "invalid_request_error"],
  [413, "request_too_large"],
  [422, "invalid_request_error"],
  [429, "rate_limit_error"],
  [500, "api_error"],
  [502, "api_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
  [599, "api_error"],
] as const) {
  test(`status ${status} becomes ${type}`, (t) => {
    const error = { type: "error", error: { type, message: "No." }, request_id: "req_1" };
    t.deepEqual(messages.formatError({ ...shown, status }), error);
    t.is(
      messages.formatErrorEvent({ ...shown, status }, null),
      `event: error\ndata: ${JSON.stringify(error)}\n\n`,
    );
  });
}
