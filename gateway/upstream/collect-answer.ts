import type { Endpoint } from "../providers/provider.ts";
import { GatewayError } from "../errors.ts";
import type { UpstreamHeaders, UpstreamTimeouts } from "./upstream-call.ts";
import type { Upstreams } from "./upstreams.ts";

export type CollectedAnswer = { status: number; headers: UpstreamHeaders; body: Buffer };

/** Fetches an upstream's whole answer to a GET request, for what is not on the way of a completion. Throws a `GatewayError`. */
export function collectAnswer(
  upstreams: Upstreams,
  endpoint: Endpoint,
  timeouts: UpstreamTimeouts,
  bytesMax: number,
): Promise<CollectedAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let headers: UpstreamHeaders = {};
    const call = upstreams.call(endpoint, null, timeouts, {
      onHeaders(answerStatus, answerHeaders) {
        status = answerStatus;
        headers = answerHeaders;
      },
      onData(chunk) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes <= bytesMax) return;
        call.abort();
        reject(new GatewayError("upstream_error", `The provider's answer is longer than ${bytesMax} bytes.`));
      },
      onEnd: () => resolve({ status, headers, body: Buffer.concat(chunks) }),
      onError: reject,
    });
  });
}
