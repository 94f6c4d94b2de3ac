import type { ErrorCode } from "../errors.ts";
import type { ObservedRequest } from "./observed-request.ts";
import type { UsageRecord } from "./recording/spool.ts";

/** Observes requests in addition to the usage history. Must be fast, because the request path calls it. */
export type RequestObserver = {
  /** A request has ended. */
  ended(request: EndedRequest): void;
  /**
   * A request was rejected before its key was known, or is not a model request. `request` is null for a path
   * outside `/v1`.
   */
  refused(request: ObservedRequest | null, code: ErrorCode, httpStatus: number): void;
  /** A request other than a model request was answered, or its client disconnected (499). */
  answered(request: ObservedRequest, httpStatus: number): void;
  /** An upstream was unreachable or rejected a request. A fallback may have answered it. */
  upstreamRefused(provider: string, reason: string): void;
};

export type EndedRequest = {
  /** Null without an observer. */
  request: ObservedRequest | null;
  record: UsageRecord;
  /** The slug of the catalogue's model. Null for an unknown model. */
  model: string | null;
  /** The gateway's own code, never the upstream's. */
  errorCode: ErrorCode | null;
  /** A moment of `performance.now()`. Null without a token. */
  firstTokenAt: number | null;
};
