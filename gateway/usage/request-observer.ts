import type { ErrorCode } from "../errors.ts";
import type { UsageRecord } from "./record-format.ts";

/** Who counts what happens, besides the usage history. Called on the request path: it must take next to no time. */
export type RequestObserver = {
  /** A request is over. */
  ended(request: EndedRequest): void;
  /** A request was refused before it was known whose it is. */
  refused(code: ErrorCode): void;
  /** An upstream could not be reached or refused to look at a request, which another may have answered. */
  upstreamRefused(provider: string, reason: string): void;
};

export type EndedRequest = {
  record: UsageRecord;
  /** The model's slug, of the catalogue; null when what was asked for is not in it. */
  model: string | null;
  /** The gateway's own code, never the upstream's word. */
  errorCode: ErrorCode | null;
};
