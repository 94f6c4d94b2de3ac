import type { ErrorCode } from "../errors.ts";
import type { UsageRecord } from "./recording/spool.ts";
import type { Endpoint } from "../providers/provider.ts";

/** Receives events of requests, for metrics and traces. Methods must be fast, because requests wait for them. */
export type RequestObserver = {
  ended(request: EndedRequest): void;
  /** A request without a usage record was rejected. `request` is null for a path outside `/v1`. */
  refused(request: ObservedRequest | null, code: ErrorCode, httpStatus: number): void;
  /** A request other than a model request was answered, or its client disconnected (499). */
  answered(request: ObservedRequest, httpStatus: number): void;
  /** An upstream was unreachable or returned a retryable error. A fallback may still answer the request. */
  upstreamRefused(provider: string, reason: string): void;
};

export type EndedRequest = {
  request: ObservedRequest | null;
  record: UsageRecord;
  /** The operation's name in OpenTelemetry's conventions. */
  telemetryName: string;
  /** The slug of the resolved model. Null if no model was resolved. */
  model: string | null;
  /** The gateway's own code, never the upstream's. */
  errorCode: ErrorCode | null;
  /** A timestamp from `performance.now()`. Null before the first token. */
  firstTokenAt: number | null;
};

/** A request to `/v1` as observers see it. Times are timestamps from `performance.now()`. */
export class ObservedRequest {
  readonly id: string;
  readonly method: string;
  /** The path's pattern, such as `/v1/responses/{id}`. Null for an unknown path. */
  readonly route: string | null;
  /** The client's unvalidated trace header. */
  readonly traceparent: string | null;
  readonly startedAt = performance.now();
  readonly calls: ObservedCall[] = [];

  constructor({ id, method, route, traceparent }: ObservedRequestOptions) {
    this.id = id;
    this.method = method;
    this.route = route;
    this.traceparent = traceparent;
  }

  call(candidate: ObservedUpstream): void {
    this.calls.push({
      candidate,
      startedAt: performance.now(),
      endedAt: null,
      httpStatus: null,
      refusal: null,
    });
  }

  callAnswered(httpStatus: number): void {
    const call = this.calls.at(-1);
    if (call) call.httpStatus = httpStatus;
  }

  callRefused(reason: string): void {
    const call = this.calls.at(-1);
    if (call) Object.assign(call, { endedAt: performance.now(), refusal: reason });
  }
}

export type ObservedCall = {
  readonly candidate: ObservedUpstream;
  readonly startedAt: number;
  /** Null unless the call had a retryable failure: other calls end with the request. */
  endedAt: number | null;
  /** Null without a response, and for a call that was retried. */
  httpStatus: number | null;
  /** The retryable failure: `http_<status>` or a gateway code. Null if the call had no such failure. */
  refusal: string | null;
};

export type ObservedUpstream = Readonly<{
  providerName: string;
  providerKind: string;
  preset: string | null;
  upstreamModel: { readonly name: string };
  apis: { "chat/completions"?: { endpoint: Pick<Endpoint, "origin" | "answer"> } | undefined };
}>;

type ObservedRequestOptions = Pick<ObservedRequest, "id" | "method" | "route" | "traceparent">;
