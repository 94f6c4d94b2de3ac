import type { ErrorCode } from "../errors.ts";
import type { ObservedRequest } from "./observed-request.ts";
import type { UsageRecord } from "./recording/spool.ts";

/** Observes requests besides the usage history. Called on the request path, so it must be fast. */
export type RequestObserver = {
  /** A request has ended. */
  ended(request: EndedRequest): void;
  /**
   * A request was refused before its key was known, or is no model request. `request` is null for a path outside `/v1`.
   */
  refused(request: ObservedRequest | null, code: ErrorCode, httpStatus: number): void;
  /** A request other than a model request was answered, or its client left (499). */
  answered(request: ObservedRequest, httpStatus: number): void;
  /** An upstream was unreachable or refused a request. A fallback may have answered it. */
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
  /** From `performance.now()`. Null without any. */
  firstTokenAt: number | null;
};
