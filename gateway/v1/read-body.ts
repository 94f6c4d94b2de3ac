import type { IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";

/**
 * The request's body as it came. Throws `request_too_large` as soon as it is known to be, `unsupported_encoding` for a
 * compressed one, `ClientGoneError` when the client leaves in the middle, or has left.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // While the key was looked up, for instance: none of the events below would come any more.
  if (request.destroyed) {
    reject(new ClientGoneError());
    return promise;
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    discardRest(request);
    reject(
      new GatewayError(
        "unsupported_encoding",
        "The request body is compressed. Send it as it is, without content-encoding.",
      ),
    );
    return promise;
  }
  if (Number(request.headers["content-length"]) > bytesMax) {
    discardRest(request);
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
    discardRest(request);
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
 * A client that is still sending does not read: closing the connection at once would reset it and lose the answer. So what
 * still comes is thrown away for a while.
 */
function discardRest(request: IncomingMessage): void {
  request.resume();
  const timer = setTimeout(() => request.destroy(), discardTimeoutMs).unref();
  request.on("end", () => clearTimeout(timer));
  request.on("close", () => clearTimeout(timer));
}

const discardTimeoutMs = 10_000;

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("request_too_large", `The request body is larger than ${bytesMax} bytes.`);
}
