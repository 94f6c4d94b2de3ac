import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../errors.ts";

/**
 * The request's body as it came. Throws `request_too_large` as soon as it is known to be, `unsupported_encoding` for a
 * compressed one, `ClientGoneError` when the client leaves in the middle.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    discardRest(request, response);
    reject(
      new GatewayError(
        "unsupported_encoding",
        "The request body is compressed. Send it as it is, without content-encoding.",
      ),
    );
    return promise;
  }
  if (Number(request.headers["content-length"]) > bytesMax) {
    discardRest(request, response);
    reject(tooLarge(bytesMax));
    return promise;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bytesMax) return chunks.push(chunk);
    chunks.length = 0;
    request.removeAllListeners("data");
    discardRest(request, response);
    return reject(tooLarge(bytesMax));
  });
  request.on("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  request.on("error", () => reject(new ClientGoneError()));
  request.on("close", () => {
    if (!request.complete) reject(new ClientGoneError());
  });
  return promise;
}

/** Nobody is left to answer. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/**
 * A client that is still sending does not read: closing at once would reset the connection and lose the answer. So what
 * still comes is thrown away for a while, and then the connection is closed.
 */
function discardRest(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("connection", "close");
  request.resume();
  const timer = setTimeout(() => request.destroy(), discardTimeoutMs);
  request.on("close", () => clearTimeout(timer));
}

const discardTimeoutMs = 10_000;

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("request_too_large", `The request body is larger than ${bytesMax} bytes.`);
}
