import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { chat } from "../dialects/chat/chat.ts";
import { GatewayError } from "../errors.ts";
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
    const [status, error] = toError(problem);
    const requestId = createId("req", runtime);
    const body = JSON.stringify(toErrorBody(error, chat, requestId));
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

function toError({ code }: NodeJS.ErrnoException): [status: number, error: GatewayError] {
  if (code === "HPE_HEADER_OVERFLOW") {
    return [
      431,
      new GatewayError(
        "request_too_large",
        "The request headers are too large. Send fewer or shorter headers.",
      ),
    ];
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return [
      408,
      new GatewayError(
        "request_timeout",
        "The request took too long to arrive. Retry on a faster connection.",
      ),
    ];
  }
  return [
    400,
    new GatewayError(
      "invalid_body",
      "This is not a valid HTTP request. Check the client and the URL scheme.",
    ),
  ];
}

/** Node stores the current response on the socket as `_httpMessage`. */
function hasAnswerBegun(socket: Duplex): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: { headersSent: boolean } | null };
  return response?.headersSent === true;
}
