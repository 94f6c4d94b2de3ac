import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { chat } from "../dialects/chat/chat.ts";
import { type ErrorCode, GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
import { toErrorBody } from "./error-response.ts";

/**
 * Answers requests that Node's HTTP parser rejects or that arrive too slowly. Closes the connection, because the
 * start of the next request is unknown.
 */
export function answerMalformed(runtime: Runtime) {
  return (problem: NodeJS.ErrnoException, socket: Duplex): void => {
    if (problem.code === "ECONNRESET" || !socket.writable || hasAnswerBegun(socket)) {
      socket.destroy();
      return;
    }
    const { status, code, message } = problems[problem.code ?? ""] ?? invalidRequest;
    const requestId = createId("req", runtime);
    const body = JSON.stringify(toErrorBody(new GatewayError(code, message), chat, requestId));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "content-type: application/json; charset=utf-8",
      "x-content-type-options: nosniff",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
  };
}

type Problem = { status: number; code: ErrorCode; message: string };

const problems: Record<string, Problem> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: "request_too_large",
    message: "The request headers are too large. Send fewer or shorter headers.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: "request_timeout",
    message: "The request took too long to arrive. Retry on a faster connection.",
  },
};

const invalidRequest: Problem = {
  status: 400,
  code: "invalid_body",
  message: "This is not a valid HTTP request. Check the client and the URL scheme.",
};

/** Node stores the current response on the socket as `_httpMessage`. */
function hasAnswerBegun(socket: Duplex): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: { headersSent: boolean } | null };
  return response?.headersSent === true;
}
