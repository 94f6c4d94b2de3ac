import type { Endpoint } from "../providers/provider.ts";
import { GatewayError } from "../errors.ts";
import { GrowingBody } from "../wire/bytes.ts";
import type { UpstreamHeaders, UpstreamTimeouts } from "./upstream-call.ts";
import type { Upstreams } from "./upstreams.ts";

export type CollectedAnswer = { status: number; headers: UpstreamHeaders; body: Buffer };

type CollectOptions = {
  timeouts: UpstreamTimeouts;
  bytesMax: number;
  /** Without a body, the request is a GET request. */
  body?: readonly Buffer[];
  signal?: AbortSignal;
};

/** Resolves with any status. Rejects with a `GatewayError`. */
export function collectAnswer(
  upstreams: Upstreams,
  endpoint: Endpoint,
  { timeouts, bytesMax, body, signal }: CollectOptions,
): Promise<CollectedAnswer> {
  return new Promise((resolve, reject) => {
    const answer = new GrowingBody(bytesMax);
    let status = 0;
    let headers: UpstreamHeaders = {};
    const call = upstreams.call(endpoint, body ?? null, timeouts, {
      onHeaders(answerStatus, answerHeaders) {
        status = answerStatus;
        headers = answerHeaders;
      },
      onData(chunk) {
        answer.append(chunk);
        if (answer.length <= bytesMax) return;
        call.abort();
        reject(
          new GatewayError(
            "upstream_error",
            `The provider's response is longer than ${bytesMax} bytes. Check the base URL.`,
          ),
        );
      },
      onEnd: () => resolve({ status, headers, body: answer.bytes }),
      onError: reject,
    });
    signal?.addEventListener("abort", () => {
      call.abort();
      reject(new GatewayError("upstream_error", "The request was cancelled."));
    });
  });
}
