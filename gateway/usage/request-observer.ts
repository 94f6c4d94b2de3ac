import type { ErrorCode } from "../errors.ts";
import type { ObservedRequest } from "./observed-request.ts";
import type { UsageRecord } from "./recording/segment.ts";

/** Who counts or follows what happens, besides the usage history. Called on the request path: it must take next to no time. */
export type RequestObserver = {
  /** A request is over. */
  ended(request: EndedRequest): void;
  /** A request was refused before it was known whose it is, or is none for a model; null where it is none to `/v1`. */
  refused(request: ObservedRequest | null, code: ErrorCode, httpStatus: number): void;
  /** A request that is none for a model was answered, or left alone by its client (499). */
  answered(request: ObservedRequest, httpStatus: number): void;
  /** An upstream could not be reached or refused to look at a request, which another may have answered. */
  upstreamRefused(provider: string, reason: string): void;
};

export type EndedRequest = {
  /** Null where nobody looks at it. */
  request: ObservedRequest | null;
  record: UsageRecord;
  /** The model's slug, of the catalogue; null when what was asked for is not in it. */
  model: string | null;
  /** The gateway's own code, never the upstream's word. */
  errorCode: ErrorCode | null;
  /** By `performance.now()`; null where none came. */
  firstTokenAt: number | null;
};
