import type { IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";
import { GrowingBody } from "../wire/growing-body.ts";
import type { HeldBody } from "./body-budget.ts";

/**
 * The request's body as it came. Throws `request_too_large` as soon as the size is known, `unsupported_encoding` for a
 * compressed body, `service_unavailable` where `held` does not take it, `ClientGoneError` when the client disconnects.
 */
export function readBody(request: IncomingMessage, bytesMax: number, held: HeldBody): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const refuse = (error: unknown) => {
    held.release();
    discardRest(request);
    reject(error);
    return promise;
  };
  // While the key was looked up, for instance: none of the events below would come any more.
  if (request.destroyed) {
    reject(new ClientGoneError());
    return promise;
  }
  const { "content-encoding": encoding, "content-length": length } = request.headers;
  if (encoding !== undefined && encoding !== "identity") {
    return refuse(
      new GatewayError(
        "unsupported_encoding",
        "The request body is compressed. Send it without content-encoding.",
      ),
    );
  }
  if (Number(length) > bytesMax) return refuse(tooLarge(bytesMax));

  const body = new GrowingBody(Math.min(Number(length ?? Infinity), bytesMax));
  request.on("data", (chunk: Buffer) => {
    try {
      if (body.length + chunk.length > bytesMax) throw tooLarge(bytesMax);
      held.add(chunk.length);
      body.append(chunk);
    } catch (error) {
      request.removeAllListeners("data");
      body.clear();
      void refuse(error);
    }
  });
  request.on("end", () => resolve(body.bytes));
  const leave = () => {
    if (request.complete) return;
    held.release();
    reject(new ClientGoneError());
  };
  request.on("error", leave);
  request.on("close", leave);
  return promise;
}

/** The client has disconnected: there is nobody to answer. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/**
 * A client that is still sending does not read: closing the connection at once would reset it and lose the answer. So the
 * rest is read and thrown away for a while.
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
